/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that a rule makes wait (call.slow): kept whole, with their descriptors, until a timer
 * lets them be answered. The daemon goes on meanwhile.
 */
#ifndef IO_SLOW_CALL_H
#define IO_SLOW_CALL_H

#include "message.h"

#include <ev.h>
#include <stdint.h>
#include <sys/queue.h>

/* What rules make of a call. */
struct io_call_fault {
	int error;       /* errno value with which it fails; 0: it works */
	uint64_t bad_wr; /* with error: requests of a list that go first */
	uint64_t delay;  /* ns until it is answered */
};

struct io_slow_call {
	LIST_ENTRY(io_slow_call) link;
	struct ev_loop *loop;
	ev_timer timer;
	/* Called once, the call being off its list; it is freed afterwards. */
	void (*resume)(void *owner, struct io_slow_call *call);
	void *owner;
	struct io_call_fault fault; /* what the rules said */
	struct io_fds fds;
	size_t len;
	_Alignas(8) uint8_t msg[];
};

LIST_HEAD(io_slow_calls, io_slow_call);

/* Where it goes, and how it goes on. */
struct io_slow_owner {
	struct ev_loop *loop;
	struct io_slow_calls *list;
	void (*resume)(void *owner, struct io_slow_call *call);
	void *owner;
};

/* Keeps a message; takes its descriptors over. 0, or -ENOMEM with nothing done. */
int io_slow_call_keep(const struct io_slow_owner *to, const struct io_call_fault *fault,
		      const void *msg, size_t len, struct io_fds *fds);

/* The owner goes: none of them is answered. */
void io_slow_calls_drop(struct io_slow_calls *list);

#endif
