/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "page_watch": memory of outstanding requests is kept from the program by page
 * protection, so that the very instruction that uses it is found (uhca-run --sanitize=page). The
 * instruction gets a SIGSEGV, whose handler (fault.c) tells the finding and opens the pages; then
 * the program goes on.
 *
 * Only whole pages that nobody but this module has protected, and that the device reaches
 * nevertheless: private ones (by the descriptor of /proc/self/mem, emu/io/mem) and those of the
 * arena (it has them mapped itself). A "hold" keeps a range; where holds meet, the strictest
 * counts, and what is left when one ends. All may be called by any thread, and keep errno.
 *
 * Who may call: sanitize. It calls finding and pin, and knows of verbs only names.
 */
#ifndef UHCAV_PAGE_WATCH_H
#define UHCAV_PAGE_WATCH_H

#include "provider/diagnostic/diagnostic.h"

#include <stdbool.h>
#include <stdint.h>

/* A piece of memory that a request names. Strings are static ones. */
struct uhcav_page_watch_post {
	enum uhca_check check; /* what it is, if the program uses it */
	bool is_target;        /* the device writes there: nobody reads either */
	bool is_recv;          /* where two of these meet, none is protected (below) */
	struct uhcav_request_name request;
	uint32_t lkey;                   /* of the region */
	uint64_t at, length;             /* in the process */
	const struct uhcav_stack *stack; /* that posts */
	const struct uhcav_stack *made;  /* that registered the region; NULL: not known */
};

/*
 * About to be posted. A name for its end; 0: none of it is protected. A program that posts the same
 * memory for several receives does not look at what they bring, or knows what it does.
 */
uint32_t uhcav_page_watch_begin(const struct uhcav_page_watch_post *post);

/* It is the program's again. Was a finding told of it? 0 is no name: nothing, false. */
bool uhcav_page_watch_end(uint32_t name);

/*
 * Opens what of [at, at + length) is protected until uhcav_page_watch_end: something looks at the
 * program's memory that is no mistake of it.
 */
uint32_t uhcav_page_watch_lift(uint64_t at, uint64_t length);

/* Is a part of [at, at + length) protected by this module? */
bool uhcav_page_watch_covers(uint64_t at, uint64_t length);

/* Around a fork; in the child, "forget" before "unlock": it has copies that nobody uses. */
void uhcav_page_watch_lock(void);
void uhcav_page_watch_unlock(void);
void uhcav_page_watch_forget(void);

#endif
