/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interleaved keys of one piece over memory, a column of a matrix for example, walked many elements
 * at a time: what indirect_leaf and mr_spans give one by one, with the same result.
 */
#ifndef CORE_INDIRECT_GRID_H
#define CORE_INDIRECT_GRID_H

#include "mr.h"

/*
 * Is the key one piece, repeated, of a region with memory of its own? Pieces that touch each other
 * are no grid: indirect_step takes them as one.
 */
bool indirect_is_grid(const struct mr *mr);

/*
 * The whole elements at the beginning of [addr, addr + length) of a grid, which is in range, that
 * are in memory of this process and in one row. False: there are few of them, for
 * indirect_grid_spans.
 */
bool indirect_grid_row(const struct mr *mr, uint64_t addr, uint32_t length, struct core_row *out);

/*
 * Up to max spans of [addr, addr + length) of a grid, which is in range: the first *walked bytes of
 * it, at least one unless max is 0.
 */
unsigned indirect_grid_spans(const struct mr *mr, uint64_t addr, uint32_t length,
			     struct core_span *out, unsigned max, uint32_t *walked);

#endif
