/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pinning of what is being registered: which parts of the range are pages of the arena already,
 * which become so now, and why the rest is borrowed as memory of programs otherwise is.
 */
#ifndef UHCAV_PINNING_H
#define UHCAV_PINNING_H

#include "provider/context/context.h"

#include <stdint.h>

/* Whole pages of so many bytes are worth a mapping of their own. */
#define UHCAV_PIN_MIN (64u << 10)

/*
 * So many smaller ranges are pinned, too, the first of a process. Each may split a mapping in
 * three, and each registration reads the list of mappings: with 1024 it took a millisecond.
 */
#define UHCAV_PIN_SMALL 64u

struct uhcav_pinning {
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
 * stays the device's until uhcav_pinning_end, whatever the program does to its mappings. It does
 * not fail: what cannot be pinned is not, and is as it was. Any thread.
 */
void uhcav_pinning_begin(struct uhcav_context *ctx, uint64_t addr, uint64_t length, int access,
			 struct uhcav_pinning *out);

/*
 * The daemon has no room for the extents: they are left to it no more, and the region is borrowed.
 */
void uhcav_pinning_refused(struct uhcav_pinning *a);

/*
 * The region is gone, or was never made. The program keeps the pages as they are; they serve the
 * next region there.
 */
void uhcav_pinning_end(const struct uhcav_pinning *a);

#endif
