/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose doorbells are looked at. A few clients, and all that rang lately, are watched: each look of
 * the loop goes to their pages. The others are asked to set their bit on a page that all
 * clients share (region.h), so that a look costs nothing for them. That page is a hint: any client
 * can spoil it for the others, whose doorbells are then found by a sweep that looks at some of them
 * at a time, and before the daemon sleeps. Owner: struct io_clients.
 */
#ifndef IO_ACTIVE_DOORBELLS_H
#define IO_ACTIVE_DOORBELLS_H

#include "emu/abi/region.h"
#include "emu/io/mem/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define IO_ACTIVE_DOORBELLS_KEPT  4  /* so many stay watched though they are quiet */
#define IO_ACTIVE_DOORBELLS_SWEPT 64 /* numbers that one sweep looks at */

struct io_client;

struct io_active_doorbells {
	struct io_shm shm; /* struct uhca_abi_active_doorbells */
	TAILQ_HEAD(io_watched, io_client) watched;
	unsigned n_watched;
	unsigned limit; /* numbers in use are below it */
	unsigned swept; /* where the next sweep begins */
	struct io_client *at[UHCA_ABI_ACTIVE_DOORBELLS];
};

/* Makes the page. 0 or -errno of io_shm_create. A zeroed struct may be closed, too. */
int io_active_doorbells_open(struct io_active_doorbells *all);
void io_active_doorbells_close(struct io_active_doorbells *all);

/* A client that has a doorbell page; where there is no number for it, it is always watched. */
void io_active_doorbells_add(struct io_active_doorbells *all, struct io_client *c);
void io_active_doorbells_remove(struct io_active_doorbells *all, struct io_client *c);

/*
 * Hands the doorbells of those who are watched or have set their bit to the core; each time
 * another of them is the first. Returns how many there were. now: ns.
 */
uint32_t io_active_doorbells_look(struct io_active_doorbells *all, uint64_t now);

/* Watches those of the next numbers who rang and were not heard. */
void io_active_doorbells_sweep(struct io_active_doorbells *all, uint64_t now);

/*
 * Is there a doorbell to be served? For a daemon that is about to sleep, and looks at everybody.
 */
bool io_active_doorbells_rang(struct io_active_doorbells *all, uint64_t now);

#endif
