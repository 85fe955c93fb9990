/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds: which range is kept from the program, how strictly, and for whom. Everything stands in
 * memory of its own: a handler of signals looks here, and the program's heap may be what is
 * protected. Under the lock of page_watch.c.
 */
#ifndef UHCAV_HOLD_H
#define UHCAV_HOLD_H

#include "page_watch.h"

/*
 * So many at a time. Each may part a mapping of the process in two more, of which the system grants
 * 65530 (vm.max_map_count).
 */
#define UHCAV_HOLDS 16384u

/* In the order of their strength: a place has the greatest of the holds over it. */
enum uhcav_hold_kind {
	UHCAV_HOLD_NONE,
	UHCAV_HOLD_SHARED,   /* a receive among others that name the same memory */
	UHCAV_HOLD_REPORTED, /* a finding was told, and the program goes on */
	UHCAV_HOLD_SOURCE,   /* the program may read */
	UHCAV_HOLD_TARGET,   /* it may not */
	UHCAV_HOLD_LIFTED,   /* it may do all, whatever else is there */
};

struct uhcav_hold {
	uintptr_t from, to; /* whole pages */
	enum uhcav_hold_kind kind;
};

/* A new one over [from, to), of kind NONE. Its name, not 0; 0: there is no room. */
uint32_t uhcav_hold_new(uintptr_t from, uintptr_t to, const struct uhcav_page_watch_post *post);
void uhcav_hold_free(uint32_t name); /* of kind NONE */

const struct uhcav_hold *uhcav_hold_at(uint32_t name);
const struct uhcav_page_watch_post *uhcav_hold_post(uint32_t name);

/*
 * Makes it another kind, and gives each page the protection that it has by that. Pages that are not
 * as this module has left them stay as they are: the program has unmapped or changed them.
 */
void uhcav_hold_change(uint32_t name, enum uhcav_hold_kind kind);

/* The next hold behind the name (0: the first) that has a part of [from, to); 0: no more. */
uint32_t uhcav_hold_meets(uint32_t name, uintptr_t from, uintptr_t to);

/* Every one of them ends. */
void uhcav_holds_end(void);

/* May the program do so there, as its mappings stand? */
bool uhcav_hold_is_allowed(uintptr_t at, bool write);

#endif
