/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of bursts, numbered, from two stores: short ones (ACKs, MADs) and long ones. */
#include "flight.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void io_flights_init(struct io_flights *f, uint32_t longest)
{
	*f = (struct io_flights){.longest = longest};
}

static void free_list(struct io_flight *f)
{
	for (struct io_flight *next; f; f = next) {
		next = f->next;
		free(f);
	}
}

void io_flights_fini(struct io_flights *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free(f->at[i]);
	free_list(f->free_short);
	free_list(f->free_long);
	free(f->at);
	free(f->free_number);
	*f = (struct io_flights){0};
}

static int grow(struct io_flights *f)
{
	const uint32_t size = f->size ? 2 * f->size : 256;
	struct io_flight **at = realloc(f->at, size * sizeof(*at));
	uint32_t *numbers;

	if (!at)
		return -ENOMEM;
	f->at = at;
	numbers = realloc(f->free_number, size * sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	f->free_number = numbers;
	f->size = size;
	return 0;
}

static struct io_flight **store_of(struct io_flights *f, uint32_t room)
{
	return room <= IO_FLIGHT_SHORT ? &f->free_short : &f->free_long;
}

static struct io_flight *take_flight(struct io_flights *f, uint32_t length)
{
	const uint32_t room = length <= IO_FLIGHT_SHORT ? IO_FLIGHT_SHORT : f->longest;
	struct io_flight **store = store_of(f, room), *one = *store;

	if (length > room)
		return NULL;
	if (one) {
		*store = one->next;
		return one;
	}
	one = malloc(sizeof(*one) + room);
	if (one)
		one->room = room;
	return one;
}

static void copy(struct io_flight *to, const struct core_burst *t)
{
	uint8_t *p = to->payload;

	for (unsigned i = 0; i < t->n_iov; i++) {
		memcpy(p, t->iov[i].iov_base, t->iov[i].iov_len);
		p += t->iov[i].iov_len;
	}
	/* Not the list of pieces, which is longer than all the rest. */
	memcpy(&to->burst, t, offsetof(struct core_burst, iov));
	to->burst.n_iov = t->length ? 1 : 0;
	to->burst.iov[0] = (struct iovec){to->payload, t->length};
	to->burst.head.payload = NULL;
	to->burst.head.payload_len = 0;
	to->packets = t->count;
}

int64_t io_flights_add(struct io_flights *f, const struct core_burst *t)
{
	struct io_flight *one;
	uint32_t number;

	if (!f->n_free && f->n == f->size && grow(f) < 0)
		return -ENOMEM;
	one = take_flight(f, t->length);
	if (!one)
		return -ENOMEM;
	copy(one, t);
	number = f->n_free ? f->free_number[--f->n_free] : f->n++;
	f->at[number] = one;
	return number;
}

void io_flights_done(struct io_flights *f, uint32_t number)
{
	struct io_flight *one = f->at[number], **store;

	if (--one->packets)
		return;
	store = store_of(f, one->room);
	one->next = *store;
	*store = one;
	f->at[number] = NULL;
	f->free_number[f->n_free++] = number;
}
