/* SPDX-License-Identifier: BSD-2-Clause */
/* Registered ranges, and changes of the memory that was there when they were registered. */
#ifndef UHCAV_MEMORY_RANGES_H
#define UHCAV_MEMORY_RANGES_H

#include "provider/diagnostic/diagnostic.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum uhcav_change_kind {
	UHCAV_UNMAPPED, /* nothing is there, as far as it was heard */
	UHCAV_MAPPED,   /* other memory was mapped there */
	UHCAV_DROPPED,  /* its pages were given back, and come again empty */
	UHCAV_MOVED,    /* they are elsewhere */
	UHCAV_FREED,    /* it was freed, and not given out again */
};

struct uhcav_change {
	enum uhcav_change_kind kind;
	const char *call; /* "munmap" */
	uintptr_t from, to;
	const struct uhcav_stack *stack;
	bool reported;
};

#define UHCAV_RANGE_CHANGES 4u

struct uhcav_range {
	const void *mr; /* by which it is known */
	uintptr_t from, to;
	uint32_t number;
	bool is_remote; /* peers may read or write it */
	bool is_target; /* they may write it */
	const struct uhcav_stack *made;
	struct uhcav_change changes[UHCAV_RANGE_CHANGES]; /* the youngest n */
	unsigned n;
};

/* A region is registered; it is deregistered, or about to be registered anew. */
void uhcav_range_add(const struct uhcav_range *r);
void uhcav_range_remove(const void *mr);

/* Has any range a part of this? Cheap where none is near. */
bool uhcav_ranges_meet(uintptr_t from, uintptr_t to);

/* One that peers may write to and that has a part of this; false: there is none. */
bool uhcav_ranges_target(uintptr_t from, uintptr_t to, struct uhcav_range *out);

/* This has happened to all that have a part of it. Allocates nothing. */
void uhcav_ranges_change(const struct uhcav_change *c);

/* An allocator has given this out: it is not freed any more. */
void uhcav_ranges_alive(uintptr_t from, uintptr_t to);

/* The whole pages of all that is freed go back to the system. */
void uhcav_ranges_trim(const char *call, const struct uhcav_stack *stack);

/* Is there any range with a change? Cheap. */
bool uhcav_ranges_any(void);

/* The youngest change of a part of [at, at + length) of the region; false: it is the same. */
bool uhcav_ranges_look(const void *mr, uint64_t at, uint64_t length, struct uhcav_change *out);

/*
 * A range that peers may use and that has other memory now, which was not told yet; it is now.
 * False: there is none. Cheap then.
 */
bool uhcav_ranges_take(struct uhcav_range *r, struct uhcav_change *c);

/* Held across a fork. */
extern pthread_mutex_t uhcav_ranges_lock;

#endif
