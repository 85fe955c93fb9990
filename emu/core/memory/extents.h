/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pinned memory: parts of a region whose pages are mapped in this process, too, because they stand
 * in the arena of the client that registered them. What lies between is found by the array of
 * pages, as all of an ordinary region.
 */
#ifndef CORE_EXTENTS_H
#define CORE_EXTENTS_H

#include "page_array.h"

#include "emu/core/base/base.h"

struct extent {
	uint64_t addr; /* the client's */
	uint64_t length;
	uint8_t *at; /* ours */
};

struct extents {
	uint64_t from;                  /* the client's address at which the region begins */
	const struct page_array *pages; /* the region's, for what is in no extent */
	uint32_t n;
	struct extent extent[];
};

/*
 * Of what a registration of [addr, addr + length) says, whose pages are these. 0; -EINVAL when they
 * do not ascend, overlap, are empty, lie outside the range or outside the client's arena; -ENOMEM.
 * -ENOSPC when they reach over more windows
 * of it than it has and each extent could begin in. free(3) frees them.
 */
int extents_make(const struct client *c, const struct uhca_cmd_reg_pinned_mr *in,
		 const struct page_array *pages, struct extents **out);

/* Bytes that the list itself takes; none for NULL. */
uint64_t extents_cost(const struct extents *x);

/* Bytes in all of them; none without extents (NULL). */
uint64_t extents_bytes(const struct extents *x);

/* Where the client has the byte at "at" of this process; false: not in these (NULL: none). */
bool extents_find_address(const struct extents *x, uint64_t at, uint64_t *addr);

/* The extent that has the client's address; NULL: none has. */
const struct extent *extents_of(const struct extents *x, uint64_t addr);

/* As page_array_walk; spans in extents are of CORE_SPACE_DEVICE. */
unsigned extents_walk(const struct extents *x, uint64_t offset, uint32_t length,
		      struct core_span *out, unsigned max, uint32_t *walked);

#endif
