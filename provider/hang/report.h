/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports about a program that does not go on. All under the book's lock. */
#ifndef UHCAV_HANG_REPORT_H
#define UHCAV_HANG_REPORT_H

#include "book.h"
#include "thread.h"

#include <stdbool.h>

/* In words: the state of a queue pair, and what there is of a completion queue. */
#define UHCAV_HANG_WORDS 160u
const char *uhcav_hang_state_name(const struct uhcav_qp *qp);
const char *uhcav_hang_cq_words(const struct uhcav_hang_cq *h, char words[UHCAV_HANG_WORDS]);

/* Since when it waits, in ms. One that polls is in no call: its queues stand still for so long. */
uint64_t uhcav_hang_since(const struct uhcav_hang_thread *t);

/* Completions did not fit into it, and it takes none any more. Told once, with "sum" as well. */
void uhcav_hang_report_overflow(struct uhcav_hang_cq *h);

/*
 * It polls in vain a queue that nothing comes to. That is told when the program soon exits with a
 * failure: it has given up.
 */
void uhcav_hang_suspect(const struct uhcav_hang_thread *t, uint64_t now);
void uhcav_hang_report_given_up(uint64_t now);

/* Why no event of the queue wakes a thread. */
enum uhcav_hang_wait {
	UHCAV_HANG_LOST,      /* it was armed too late */
	UHCAV_HANG_UNARMED,   /* no queue of the channel is armed */
	UHCAV_HANG_OVERSLEPT, /* the event waits in the channel that the thread sleeps for */
	UHCAV_HANG_UNREAD,    /* it waits in another channel */
};
void uhcav_hang_report_wait(const struct uhcav_hang_thread *t, const struct uhcav_hang_cq *h,
			    enum uhcav_hang_wait why);

/* It may wait in rdma_destroy_id: where it does, for acknowledgements. Told once. */
void uhcav_hang_report_destroy(const struct uhcav_hang_thread *t);

/*
 * Tells the collector that this process can go on by its peers alone, or by what it hopes for else.
 * Can they not, either?
 */
#define UHCAV_HANG_SOCKETS 16u

struct uhcav_hang_hope {
	bool strangers;                       /* a new connection may help */
	bool events;                          /* nothing is awaited but an event of rdma_cm */
	bool data;                            /* nothing is awaited but data of sockets */
	bool async;                           /* nothing is awaited but an asynchronous event */
	bool clock;                           /* a thread that polls looks at the time as well */
	uint64_t sockets[UHCAV_HANG_SOCKETS]; /* inodes of the other ends of awaited ones */
	unsigned n_sockets;
};
bool uhcav_hang_is_closed(const struct uhcav_hang_thread *stuck,
			  const struct uhcav_hang_hope *hope);

/*
 * That is so: what it waits for. False: the others have not said the same yet, or a thread has gone
 * on meanwhile; ask again.
 */
bool uhcav_hang_report_stuck(const struct uhcav_hang_threads *all,
			     const struct uhcav_hang_thread *stuck);

/* Nothing can come, whatever the others do. False: a thread has gone on meanwhile. */
bool uhcav_hang_report_dry(const struct uhcav_hang_threads *all,
			   const struct uhcav_hang_thread *stuck);

#endif
