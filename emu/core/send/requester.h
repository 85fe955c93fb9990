/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requester half of a QP: takes send requests, gives each its PSNs, cuts it into trains and
 * sends them (IBTA vol. 1, 9.7.2 and 9.7.3). The completer (completer.h) reads the answers and
 * retires requests; retry.h decides when to send again.
 *
 * Work requests stand in a private array with the ring's indices:
 *
 *      una ........ oldest not completed
 *      send ....... being sent (wr[send], byte send_offset)
 *      sq.head .... next to fetch from the ring
 *
 * PSNs are assigned at fetch, so go-back-N is "set the cursor to the request that holds this PSN".
 */
#ifndef CORE_REQUESTER_H
#define CORE_REQUESTER_H

#include "early_local_inv.h"
#include "emu/core/base/timer.h"
#include "emu/core/keys/sgl.h"
#include "emu/core/queues/wqe_fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qp;
struct device;
struct core_train;

/* Why nothing is sent although there is work. */
enum requester_blocked {
	BLOCKED_NOT,
	BLOCKED_STATE,      /* the QP's state does not send */
	BLOCKED_PSN_WINDOW, /* too much is unacknowledged */
	BLOCKED_FENCE,      /* fenced behind READs or atomics */
	BLOCKED_RD_ATOMIC,  /* max_rd_atomic are outstanding */
	BLOCKED_CREDIT,     /* the responder has no receive posted (9.7.7.2) */
	BLOCKED_RNR,        /* waiting out an RNR NAK */
	BLOCKED_ORDER,      /* the next request failed locally; it completes after the older ones */
	BLOCKED_COUNT
};

/* A send request the device has taken. */
struct send_wr {
	struct uhca_abi_send_wqe wqe;
	uint32_t index; /* ring index: names the data area */
	uint32_t first_psn;
	uint32_t n_psn;  /* PSNs it uses; READ: as many as its response has packets */
	uint32_t length; /* bytes of the message */
	uint32_t ssn;    /* send sequence number (9.7.7.2) of its last request packet */
	uint64_t start;  /* bytes of all requests before it */
	uint8_t status;  /* found at fetch: completes with this error when its turn comes */
	bool signaled;
	bool executed; /* a local operation (local_op.h) that was done; never again */
};

struct requester {
	struct send_queue sq;
	struct send_wr *wr;        /* sq.entries of them */
	struct uhca_abi_sge *sge;  /* sq.entries * max_sge */
	uint32_t una, send;        /* ring indices */
	uint32_t send_offset;      /* bytes (READ: response bytes) of wr[send] already sent */
	uint32_t next_psn;         /* for the next request fetched */
	uint32_t una_psn;          /* oldest PSN not acknowledged */
	uint32_t high_psn;         /* one past the newest PSN ever sent */
	uint32_t rd_outstanding;   /* READ requests and atomics sent, unanswered */
	uint64_t start;            /* bytes of all requests fetched so far */
	uint32_t ssn;              /* of the newest request fetched; the first is 1 */
	uint32_t credit_limit_ssn; /* SENDs with a higher number wait; valid with has_credits */
	bool has_credits;
	bool gap_seen; /* went back for what is missing at una_psn already */
	bool draining; /* SQD asked for, not reached yet */
	enum requester_blocked blocked;
	uint8_t retries_left, rnr_left;
	uint8_t resent;       /* how often it went back since the last progress */
	uint64_t progress_at; /* of the timers: the last answer that moved una_psn, or the first
				 packet */
	struct timer timer;   /* local ACK timeout, or end of the RNR wait */
	struct early_local_inv early;
};

/* Memory for the arrays. 0 or -ENOMEM. sq must be filled in. early: config.local_inv_early. */
int requester_construct(struct requester *req, bool early);
void requester_destruct(struct requester *req);

/* Empty queue, nothing outstanding: what is in the ring is forgotten (RESET). */
void requester_reset(struct qp *qp);

/* RTR to RTS: PSNs and retry counters from the QP's attributes. */
void requester_start(struct qp *qp);

/* Builds the next train of requests, if one may go now. */
bool requester_transmit(struct qp *qp, uint8_t *buf, size_t cap, struct core_train *out);

/* The request at ring index i (between una and sq.head). */
static inline struct send_wr *requester_wr(const struct requester *req, uint32_t i)
{
	return &req->wr[i & (req->sq.entries - 1)];
}

/*
 * A READ is asked for in pieces of this size, so that its answers never overrun a socket: whole
 * packets, because a request takes one PSN for each packet of its response (9.7.2).
 */
uint32_t requester_read_piece(const struct qp *qp);

/* READs, atomics, memory placement: complete only when the response has come. */
bool requester_awaits_response(const struct send_wr *w);

/* An atomic with masks (masked_atomic.h). */
bool requester_is_masked(const struct send_wr *w);

/* The scatter/gather list of a fetched request. */
struct sgl requester_sgl(struct qp *qp, const struct send_wr *w);

/* True while a packet that was sent is not acknowledged. */
static inline bool requester_outstanding(const struct requester *req)
{
	return req->una_psn != req->high_psn;
}

#endif
