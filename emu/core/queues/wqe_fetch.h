/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only reader of rings that a client writes (design D6): copies an entry first, checks the
 * copy, hands on a private work request. What a hostile client does to its rings ends here.
 */
#ifndef CORE_WQE_FETCH_H
#define CORE_WQE_FETCH_H

#include "recv_queue.h"

#include <stdint.h>

enum fetch_verdict {
	FETCH_OK,
	FETCH_EMPTY,
	FETCH_BROKEN, /* producer index or entry that no well-meaning client writes */
};

struct send_queue {
	uint32_t entries; /* slots, a power of two */
	uint32_t stride;
	uint32_t max_sge;
	uint32_t data_stride;
	uint32_t head; /* next slot to fetch */
	uint32_t seen; /* what the client has posted is known as far as here */
	struct uhca_abi_queue *page;
	const uint8_t *slots;
	const uint8_t *data;
};

/*
 * Takes the next send request: *wqe and sge[] (room for max_sge) get private copies. The slot and
 * its data area stay the request's until send_retire.
 */
enum fetch_verdict send_fetch(struct send_queue *sq, struct uhca_abi_send_wqe *wqe,
			      struct uhca_abi_sge *sge);

/*
 * A copy of the request at ring index "index", which is not before head, without taking it. It may
 * be another one when it is fetched: the client can still write to it.
 */
enum fetch_verdict send_peek(const struct send_queue *sq, uint32_t index,
			     struct uhca_abi_send_wqe *wqe);

/* All that was posted is taken, unread. */
void send_drop(struct send_queue *sq);

/* True when the client has posted something that was not fetched yet. */
bool send_pending(const struct send_queue *sq);

/* The data area of a fetched slot (its index is the value head had). */
const uint8_t *send_data(const struct send_queue *sq, uint32_t index);

/* Tells the client that all slots before index are free. */
void send_retire(struct send_queue *sq, uint32_t index);

/* A private copy of the next receive request, which stays where it is. */
enum fetch_verdict recv_peek(struct recv_queue *rq, struct recv_wr *out);

/* After a peek that found one: it is taken, as it was copied, and its slot is free. */
void recv_take(struct recv_queue *rq);

/* Both at once. */
enum fetch_verdict recv_fetch(struct recv_queue *rq, struct recv_wr *out);

/* All that was posted is taken, unread. */
void recv_drop(struct recv_queue *rq);

/* Receive requests waiting; 0 when the ring makes no sense. */
uint32_t recv_available(const struct recv_queue *rq);

#endif
