/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose doorbells are looked at. A few clients, and all that rang lately, are watched: each look of
 * the loop goes to their pages. The others are asked to announce themselves on a page that all
 * clients share (region.h), so that a look costs nothing for them. That page is a hint: any client
 * can spoil it for the others, whose doorbells are then found by a sweep that looks at some of them
 * at a time, and before the daemon sleeps. Owner: struct io_clients.
 */
#ifndef IO_CALLERS_H
#define IO_CALLERS_H

#include "emu/abi/region.h"
#include "emu/io/mem/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define IO_CALLERS_KEPT  4  /* so many stay watched though they are quiet */
#define IO_CALLERS_SWEPT 64 /* numbers that one sweep looks at */

struct io_client;

struct io_callers {
	struct io_shm shm; /* struct uhca_abi_callers */
	TAILQ_HEAD(io_watched, io_client) watched;
	unsigned n_watched;
	unsigned limit; /* numbers in use are below it */
	unsigned swept; /* where the next sweep begins */
	struct io_client *at[UHCA_ABI_CALLERS];
};

/* Makes the page. 0 or -errno of io_shm_create. A zeroed struct may be closed, too. */
int io_callers_open(struct io_callers *all);
void io_callers_close(struct io_callers *all);

/* A client that has a doorbell page; where there is no number for it, it is always watched. */
void io_callers_add(struct io_callers *all, struct io_client *c);
void io_callers_remove(struct io_callers *all, struct io_client *c);

/*
 * Hands the doorbells of those who are watched or have announced themselves to the core; each time
 * another of them is the first. Returns how many there were. now: ns.
 */
uint32_t io_callers_look(struct io_callers *all, uint64_t now);

/* Watches those of the next numbers who rang and were not heard. */
void io_callers_sweep(struct io_callers *all, uint64_t now);

/*
 * Is there a doorbell to be served? For a daemon that is about to sleep, and looks at everybody.
 */
bool io_callers_rang(struct io_callers *all, uint64_t now);

#endif
