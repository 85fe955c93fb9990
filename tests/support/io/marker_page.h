/* SPDX-License-Identifier: BSD-2-Clause */
/* The marker page of a client that is no provider (emu/io/mem/marker.h). */
#ifndef TESTS_MARKER_PAGE_H
#define TESTS_MARKER_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#define MARKER_PAGE 4096u

/* Maps it where the daemon has asked for it, for this process. */
static inline bool marker_page_map(uint64_t at)
{
	void *wanted = (void *)(uintptr_t)at;

	return mmap(wanted, MARKER_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1,
		    0) == wanted;
}

static inline void marker_page_unmap(uint64_t at)
{
	munmap((void *)(uintptr_t)at, MARKER_PAGE);
}

#endif
