/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bursts that are under way in a network: each is a copy with its payload, which its packets share.
 * Memory that was used once is kept for the next ones.
 */
#ifndef IO_FLIGHT_H
#define IO_FLIGHT_H

#include "emu/core/core.h"

#include <stdint.h>

#define IO_FLIGHT_SHORT 512u

struct io_flight {
	struct io_flight *next; /* of those that are free */
	uint32_t packets;       /* still under way */
	uint32_t room;          /* bytes of payload that fit */
	struct core_burst burst;
	uint8_t payload[];
};

struct io_flights {
	struct io_flight **at; /* by number */
	uint32_t n, size;
	uint32_t *free_number; /* "size" of them; the first n_free are free */
	uint32_t n_free;
	struct io_flight *free_short, *free_long;
	uint32_t longest; /* payload of a burst at the most */
};

void io_flights_init(struct io_flights *f, uint32_t longest);
void io_flights_fini(struct io_flights *f);

/* A copy of the burst, none of whose packets is lost or delivered yet. Its number, or -ENOMEM. */
int64_t io_flights_add(struct io_flights *f, const struct core_burst *t);

static inline const struct core_burst *io_flights_burst(const struct io_flights *f, uint32_t number)
{
	return &f->at[number]->burst;
}

/* One packet less is under way. */
void io_flights_done(struct io_flights *f, uint32_t number);

#endif
