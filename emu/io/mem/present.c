/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See present.h. Pages have 4096 bytes or more; more are told of as several (proc_pid_pagemap(5)).
 */
#include "present.h"

#include "emu/io/base/base.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_BITS 12
#define SLOTS     4096u /* pages that are remembered, each at a place of its own */
#define AT_ONCE   64u   /* entries that are asked for in one call */
#define FRESH_FOR (100000 * IO_USEC)

/* Bits of an entry. */
#define IS_THERE   (UINT64_C(1) << 63)
#define IS_SWAPPED (UINT64_C(1) << 62)
#define IS_WATCHED (UINT64_C(1) << 57) /* a store waits for who watches (userfaultfd) */

struct io_present {
	int pagemap;
	uint64_t since;        /* when the oldest of it was asked for */
	uint64_t known[SLOTS]; /* 2 * number of a page, + 1: for stores, too; 0: nothing */
};

struct io_present *io_present_open(pid_t pid)
{
	struct io_present *p;
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p) {
		close(fd);
		return NULL;
	}
	p->pagemap = fd;
	return p;
}

void io_present_close(struct io_present *p)
{
	if (!p)
		return;
	close(p->pagemap);
	free(p);
}

void io_present_forget(struct io_present *p)
{
	if (p)
		memset(p->known, 0, sizeof(p->known));
}

static bool is_known(const struct io_present *p, uint64_t page, bool write)
{
	uint64_t k = p->known[page % SLOTS];

	return write ? k == (page << 1 | 1) : k >> 1 == page;
}

/* Asks for pages from "page" to "end" at the most; false at the first that is not there. */
static bool ask(struct io_present *p, uint64_t page, uint64_t end, bool write, uint64_t *next)
{
	uint64_t entry[AT_ONCE], n = end - page < AT_ONCE ? end - page : AT_ONCE;
	ssize_t got =
		pread(p->pagemap, entry, n * sizeof(entry[0]), (off_t)(page * sizeof(entry[0])));

	*next = page + n;
	if (got != (ssize_t)(n * sizeof(entry[0])))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		bool stores = !(entry[i] & IS_WATCHED);

		if (!(entry[i] & (IS_THERE | IS_SWAPPED)) || (write && !stores))
			return false;
		p->known[(page + i) % SLOTS] = (page + i) << 1 | stores;
	}
	return true;
}

static bool is_there(struct io_present *p, const struct iovec *piece, bool write)
{
	uint64_t at = (uintptr_t)piece->iov_base;
	uint64_t page = at >> PAGE_BITS, end = ((at + piece->iov_len - 1) >> PAGE_BITS) + 1;

	while (page < end && is_known(p, page, write))
		page++;
	while (page < end)
		if (!ask(p, page, end, write, &page))
			return false;
	return true;
}

bool io_present_all(struct io_present *p, const struct iovec *piece, unsigned n, bool write)
{
	uint64_t now;

	if (!p)
		return true;
	now = io_clock_about();
	if (now - p->since > FRESH_FOR) {
		io_present_forget(p);
		p->since = now;
	}
	for (unsigned i = 0; i < n; i++)
		if (piece[i].iov_len > 0 && !is_there(p, &piece[i], write))
			return false;
	return true;
}
