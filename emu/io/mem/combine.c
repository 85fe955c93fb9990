/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See combine.h. The bytes of a write stand in a place of their own, those that are to become
 * visible last in front, where no place ends a page: see mem.c on stores that are torn.
 */
#include "combine.h"

#include "batch.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#define PAGE_BITS 12
#define PAGES     8 /* that are remembered */
#define PLACE     64
#define PLACES    (IO_BATCH_REMOTE / 2) /* a write has two pieces at the most */
#define BYTES_MAX (PLACE - IO_BATCH_STORE)

static struct {
	alignas(1 << PAGE_BITS) uint8_t place[PLACES][PLACE];
	struct io_mem *of; /* whose memory; NULL: nobody's */
	unsigned n;        /* places that are taken */
	struct io_batch b;
	uint64_t page[PAGES]; /* reached by a write */
	unsigned n_pages;
} waiting;

static uint64_t page_of(const struct core_span *to)
{
	return to->addr >> PAGE_BITS;
}

bool io_combine_fits(const struct io_mem *m, const struct core_span *to)
{
	return m->vm_usable && m->mode != IO_MEM_PROC_MEM && to->space == CORE_SPACE_CLIENT &&
	       to->length > 0 && to->length <= BYTES_MAX &&
	       page_of(to) == (to->addr + to->length - 1) >> PAGE_BITS;
}

static bool is_reached(uint64_t page)
{
	for (unsigned i = 0; i < waiting.n_pages; i++)
		if (waiting.page[i] == page)
			return true;
	return false;
}

static void add_piece(const uint8_t *at, uint64_t to, size_t length)
{
	struct io_batch *b = &waiting.b;

	b->local[b->n_local++] = (struct iovec){(void *)(uintptr_t)at, length};
	b->remote[b->n_remote++] = (struct iovec){(void *)(uintptr_t)to, length};
}

/* The last "tail" bytes go to the front of the place, the others behind them. */
static void fill(uint8_t *place, size_t body, const struct iovec *from, unsigned n_from)
{
	uint8_t bytes[PLACE];
	size_t n = 0;

	for (unsigned i = 0; i < n_from; n += from[i++].iov_len)
		memcpy(bytes + n, from[i].iov_base, from[i].iov_len);
	memcpy(place, bytes + body, n - body);
	memcpy(place + IO_BATCH_STORE, bytes, body);
}

bool io_combine_take(struct io_mem *m, const struct core_span *to, const struct iovec *from,
		     unsigned n_from)
{
	size_t tail =
		to->length <= IO_BATCH_STORE ? to->length : io_batch_tail(to->addr, to->length);
	size_t body = to->length - tail;
	uint8_t *place;

	if (waiting.of != m || !is_reached(page_of(to)))
		return false;
	if (waiting.n == PLACES)
		io_combine_flush();
	place = waiting.place[waiting.n++];
	fill(place, body, from, n_from);
	if (body > 0)
		add_piece(place + IO_BATCH_STORE, to->addr, body);
	add_piece(place, to->addr + body, tail);
	return true;
}

void io_combine_reached(struct io_mem *m, const struct core_span *to)
{
	if (waiting.of != m)
		waiting.n_pages = 0;
	waiting.of = m;
	if (waiting.n_pages < PAGES && !is_reached(page_of(to)))
		waiting.page[waiting.n_pages++] = page_of(to);
}

/* One by one from piece i on; what is not there any more is left out. */
static void move_each(struct io_mem *m, const struct io_batch *b, unsigned i)
{
	for (; i < b->n_remote; i++)
		(void)io_batch_move(m, &(struct io_batch){.write = true,
							  .n_local = 1,
							  .n_remote = 1,
							  .local[0] = b->local[i],
							  .remote[0] = b->remote[i]});
}

void io_combine_flush(void)
{
	struct io_batch *b = &waiting.b;
	unsigned i = 0;
	ssize_t done;

	if (b->n_remote == 0)
		return;
	b->write = true;
	done = b->n_remote > 1 ? io_batch_move_some(waiting.of, b) : 0;
	while (i < b->n_remote && done >= (ssize_t)b->remote[i].iov_len)
		done -= (ssize_t)b->remote[i++].iov_len;
	move_each(waiting.of, b, i);
	b->n_local = b->n_remote = waiting.n = 0;
}

void io_mem_settle(void)
{
	io_combine_flush();
	waiting.n_pages = 0;
}

void io_combine_drop(const struct io_mem *m)
{
	if (waiting.of == m)
		waiting.b.n_local = waiting.b.n_remote = waiting.n = waiting.n_pages = 0;
}
