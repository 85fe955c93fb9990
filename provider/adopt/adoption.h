/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adoption of what is being registered: which parts of the range are pages of the arena already,
 * which become so now, and why the rest is borrowed as memory of programs otherwise is.
 */
#ifndef UHCAV_ADOPTION_H
#define UHCAV_ADOPTION_H

#include "provider/context/context.h"

#include <stddef.h>
#include <stdint.h>

/* Whole pages of so many bytes are worth a mapping of their own. */
#define UHCAV_ADOPT_MIN (64u << 10)

/* So many smaller ones are adopted, too, the first of a process: what it costs stays bounded. */
#define UHCAV_ADOPT_SMALL 64u

struct uhcav_adoption {
	uint32_t borrowed; /* enum uhca_abi_borrowed: why not all of it */
	uint32_t n;
	/*
	 * The longest part that became the arena's just now. All its pages are there, though the
	 * program has not mapped them, and it may be written to.
	 */
	uint64_t fresh, fresh_end;
	struct uhca_abi_extent extent[UHCA_ABI_EXTENTS];
};

/*
 * For a region of [addr, addr + length) with these access flags (IBV_ACCESS_*). What is in extents
 * stays the device's until uhcav_adoption_end, whatever the program does to its mappings. It does
 * not fail: what cannot be adopted is not, and is as it was. Any thread.
 */
void uhcav_adoption_begin(struct uhcav_context *ctx, uint64_t addr, uint64_t length, int access,
			  struct uhcav_adoption *out);

/*
 * The region is gone, or was never made. The program keeps the pages as they are; they serve the
 * next region there.
 */
void uhcav_adoption_end(const struct uhcav_adoption *a);

#endif
