/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The translation itself (seed 000): a region is an array of pages plus the offset into the first
 * page where it starts. An access computes its offset into the region and walks the array from
 * there. A page's name is its virtual address in the client. Flat up to PAGE_ARRAY_FLAT entries,
 * two-level beyond (a directory of leaves), so that no allocation grows with the region's square.
 */
#ifndef CORE_PAGE_ARRAY_H
#define CORE_PAGE_ARRAY_H

#include "emu/core/contract/verbs.h"

#define PAGE_ARRAY_FLAT 512u /* entries of a flat array and of a leaf */

struct page_array {
	uint32_t page_shift;
	uint64_t first_offset; /* byte in page 0 at which the region begins */
	uint64_t n_pages;
	uint64_t length; /* bytes of the region */
	uint64_t *flat;  /* n_pages <= PAGE_ARRAY_FLAT */
	uint64_t **leaf; /* else: ceil(n_pages / PAGE_ARRAY_FLAT) leaves, parts of one allocation */
};

/* Bytes of memory that the array of a range takes; 0 for one that page_array_construct refuses. */
uint64_t page_array_cost(uint64_t addr, uint64_t length, uint32_t page_shift);

/* The same of an array that is there. */
uint64_t page_array_bytes(const struct page_array *pa);

/*
 * Builds the array for [addr, addr + length) of a virtually contiguous range. 0, -ENOMEM, or
 * -EINVAL when the range wraps around. A zero-length region has no pages.
 */
int page_array_construct(struct page_array *pa, uint64_t addr, uint64_t length,
			 uint32_t page_shift);
void page_array_destruct(struct page_array *pa);

/* Entry i, i < n_pages. */
uint64_t page_array_entry(const struct page_array *pa, uint64_t i);

/*
 * Walks [offset, offset + length) of the region into at most max spans; neighbouring pages merge.
 * *walked gets the number of bytes that the spans cover (length, unless max was reached). The
 * caller has checked the range. Returns the number of spans.
 */
unsigned page_array_walk(const struct page_array *pa, uint64_t offset, uint32_t length,
			 struct core_span *out, unsigned max, uint32_t *walked);

#endif
