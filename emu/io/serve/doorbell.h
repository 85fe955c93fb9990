/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's side of a client's doorbell page (region.h). The client may write anything there at
 * any time: a bit too many costs a look at nothing, and a wrong order is its own.
 */
#ifndef IO_DOORBELL_H
#define IO_DOORBELL_H

#include "emu/abi/region.h"

#include <stdbool.h>
#include <stdint.h>

#define IO_DOORBELL_EARLY 16

/* A doorbell that was served while its thread was in the midst of ringing. */
struct io_early {
	uint32_t number;
	uint32_t again; /* times that it was served so in the look that saw its ticket */
};

struct io_doorbell {
	struct uhca_abi_doorbell *page;
	uint32_t summaries; /* summary words that may have bits */
	uint32_t ticket;    /* the first that was not used when it was looked at */
	uint32_t n_early;
	struct io_early early[IO_DOORBELL_EARLY];
};

/* Summary words that cover doorbell numbers 0..n-1. */
static inline uint32_t io_doorbell_summaries(uint32_t n)
{
	return (n + 64 * 64 - 1) / (64 * 64);
}

/* True when a doorbell rang: what a daemon that is about to sleep looks at once more. */
static inline bool io_doorbell_pending(const struct io_doorbell *b)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < b->summaries; i++)
		any |= __atomic_load_n(&b->page->summary[i], __ATOMIC_RELAXED);
	return any != 0;
}

/*
 * Takes all bits of the first "summaries" summary words and calls ring for each doorbell number,
 * in the order in which one thread of the client rang them. Everything the client wrote before it
 * rang is visible in the call. Returns the number of calls.
 */
uint32_t io_doorbell_take(struct io_doorbell *b, void (*ring)(void *arg, uint32_t number),
			  void *arg);

#endif
