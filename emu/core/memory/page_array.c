/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page arrays: from (offset, length) in a region to pieces of the client's memory, through the
 * pages that were recorded at registration and nothing else.
 */
#include "page_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t leaf_count(uint64_t n_pages)
{
	return (n_pages + PAGE_ARRAY_FLAT - 1) / PAGE_ARRAY_FLAT;
}

/* All entries are one allocation: a large one is given back to the system when it is freed. */
static uint64_t *make_entries(uint64_t first_page, uint64_t n, uint32_t page_shift)
{
	uint64_t *entry = malloc((size_t)n * sizeof(*entry));
	for (uint64_t i = 0; entry && i < n; i++)
		entry[i] = (first_page + i) << page_shift;
	return entry;
}

static int make_leaves(struct page_array *pa, uint64_t first_page)
{
	uint64_t n = leaf_count(pa->n_pages);
	if (pa->n_pages > SIZE_MAX / sizeof(**pa->leaf))
		return -ENOMEM;
	pa->leaf = calloc((size_t)n, sizeof(*pa->leaf));
	if (!pa->leaf)
		return -ENOMEM;
	pa->leaf[0] = make_entries(first_page, pa->n_pages, pa->page_shift);
	if (!pa->leaf[0])
		return -ENOMEM;
	for (uint64_t i = 1; i < n; i++)
		pa->leaf[i] = pa->leaf[0] + i * PAGE_ARRAY_FLAT;
	return 0;
}

static uint64_t pages_of(uint64_t addr, uint64_t length, uint32_t page_shift)
{
	if (length == 0 || length - 1 > UINT64_MAX - addr)
		return 0;
	return ((addr + (length - 1)) >> page_shift) - (addr >> page_shift) + 1;
}

static uint64_t cost_of(uint64_t n_pages)
{
	uint64_t n_leaves = n_pages > PAGE_ARRAY_FLAT ? leaf_count(n_pages) : 0;
	return n_pages * sizeof(uint64_t) + n_leaves * sizeof(uint64_t *);
}

uint64_t page_array_cost(uint64_t addr, uint64_t length, uint32_t page_shift)
{
	return cost_of(pages_of(addr, length, page_shift));
}

uint64_t page_array_bytes(const struct page_array *pa)
{
	return cost_of(pa->n_pages);
}

int page_array_construct(struct page_array *pa, uint64_t addr, uint64_t length, uint32_t page_shift)
{
	memset(pa, 0, sizeof(*pa));
	pa->page_shift = page_shift;
	pa->length = length;
	pa->first_offset = addr & ((1ull << page_shift) - 1);
	if (length == 0)
		return 0;
	if (length - 1 > UINT64_MAX - addr)
		return -EINVAL;
	uint64_t first_page = addr >> page_shift;
	pa->n_pages = pages_of(addr, length, page_shift);
	if (pa->n_pages <= PAGE_ARRAY_FLAT) {
		pa->flat = make_entries(first_page, pa->n_pages, page_shift);
		return pa->flat ? 0 : -ENOMEM;
	}
	int err = make_leaves(pa, first_page);
	if (err)
		page_array_destruct(pa);
	return err;
}

void page_array_destruct(struct page_array *pa)
{
	free(pa->flat);
	if (pa->leaf)
		free(pa->leaf[0]);
	free(pa->leaf);
	memset(pa, 0, sizeof(*pa));
}

uint64_t page_array_entry(const struct page_array *pa, uint64_t i)
{
	return pa->flat ? pa->flat[i] : pa->leaf[i / PAGE_ARRAY_FLAT][i % PAGE_ARRAY_FLAT];
}

/* Adds a piece, merging it with the one before where they touch. False when the list is full. */
static bool add_span(struct core_span *out, unsigned *n, unsigned max, uint64_t addr,
		     uint32_t length)
{
	if (*n && out[*n - 1].addr + out[*n - 1].length == addr) {
		out[*n - 1].length += length;
		return true;
	}
	if (*n == max)
		return false;
	out[(*n)++] = (struct core_span){addr, length, CORE_SPACE_CLIENT};
	return true;
}

unsigned page_array_walk(const struct page_array *pa, uint64_t offset, uint32_t length,
			 struct core_span *out, unsigned max, uint32_t *walked)
{
	uint64_t page_size = 1ull << pa->page_shift;
	uint64_t position = pa->first_offset + offset;
	unsigned n = 0;
	uint32_t done = 0;
	while (done < length) {
		uint64_t in_page = position & (page_size - 1);
		uint64_t room = page_size - in_page;
		uint32_t piece = room < length - done ? (uint32_t)room : length - done;
		uint64_t page = page_array_entry(pa, position >> pa->page_shift);
		if (!add_span(out, &n, max, page + in_page, piece))
			break;
		done += piece;
		position += piece;
	}
	*walked = done;
	return n;
}
