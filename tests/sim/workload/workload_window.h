/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory windows of a random workload: an end's peer binds one to a part of the end's region, the
 * end works through it, and it is taken away again in one of the ways there are: LOCAL_INV and
 * SEND with Invalidate (type 2), another bind or one of no length (type 1), deallocation. An old
 * key, a right that was not given, what lies outside: all are refused. Internal to workload*.c.
 */
#ifndef SIM_WORKLOAD_WINDOW_H
#define SIM_WORKLOAD_WINDOW_H

#include "model.h"

struct workload;
struct workload_end;

struct workload_window {
	struct vmw mw; /* rkey 0: there is none */
	uint32_t type;
	enum { WINDOW_CLOSED, WINDOW_OPENING, WINDOW_OPEN, WINDOW_CLOSING } state;
	uint64_t offset, length; /* of the end's region */
	uint32_t access;
	unsigned request;  /* OPENING, CLOSING: the one that does it, */
	bool by_end;       /* the end's own, or its peer's */
	unsigned used;     /* requests of the end up to this one may use it */
	unsigned read;     /* the same of READs */
	bool in_use;       /* the request that is being made */
	uint32_t old_rkey; /* opens nothing any more; 0: there is none */
	uint32_t misused;  /* the key of the last misuse, which is bound no more */
};

/* Does what comes next in its life, or nothing. */
void workload_window_step(struct workload *l, struct workload_end *e);

/* Address and key for "length" bytes through the end's window, if it serves; where they are. */
bool workload_window_use(struct workload *l, struct workload_end *e, struct vsend *wr,
			 uint32_t length, struct model_place *there);

/* The request that was to use it is posted, or not. */
void workload_window_used(struct workload_end *e, const struct vsend *wr, bool posted);

/* A request through the window that must be refused. False: there is nothing to do wrong. */
bool workload_window_misuse(struct workload *l, struct workload_end *e, struct vsend *wr,
			    uint32_t length);

/* Its connection has ended, or will at once; keep: it may stay bound. */
void workload_window_ended(struct workload *l, struct workload_end *e, bool keep);

#endif
