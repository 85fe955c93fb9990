/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches on descriptors whose description a client has, too: what it sent to us, and what we sent
 * to it. Closing ours does not take such a description out of an epoll set (epoll(7), question 6),
 * and libev leaves descriptors in its set until it is told of one that it does not watch; when that
 * one is closed already, it makes the whole set anew, which costs as much as there are descriptors.
 * So these have a set of their own, which libev watches, and are taken out of it in time. The
 * sockets of clients are in it, too, of which there may be thousands: libev would ask for all that
 * are ready, and call all of them, in one pass of the loop.
 */
#ifndef IO_WATCH_H
#define IO_WATCH_H

#include <ev.h>
#include <stdint.h>
#include <sys/epoll.h>

#define IO_WATCH_BATCH 16              /* events in one pass of the loop, */
#define IO_WATCH_TIME  (500 * IO_USEC) /* or as many as it takes so long; the others come next */

struct io_watch;

struct io_watches {
	ev_io ready;
	struct ev_loop *loop;
	int fd; /* the epoll set; -1 when closed */
	struct epoll_event batch[IO_WATCH_BATCH];
	int next, n_batch; /* events that still wait for their turn: from next on */
};

struct io_watch {
	struct io_watches *set; /* NULL when it is not in one */
	int fd;
	void (*event)(struct io_watch *w, uint32_t events);
	void *arg;
};

/* 0 or -errno; the loop must outlive the set. */
int io_watches_open(struct io_watches *s, struct ev_loop *loop);

/* Nothing is watched any more then. Idempotent. */
void io_watches_close(struct io_watches *s);

/*
 * Calls w->event (w->fd, event and arg are set) from the loop when one of the events (EPOLLIN,
 * EPOLLOUT, EPOLLET and so on) is there; hang-ups and errors always are told. 0 or -errno.
 */
int io_watch_start(struct io_watches *s, struct io_watch *w, uint32_t events);

/* Other events from now on. For a watch that was started. */
void io_watch_change(struct io_watch *w, uint32_t events);

/* To be called before the descriptor is closed: event is not called any more. Idempotent. */
void io_watch_stop(struct io_watch *w);

#endif
