/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a QP keeps for its sending side: the requests that were taken from its ring, and how far
 * each has come. Data only; who works with it is the send module.
 *
 * Work requests stand in a private array with the ring's indices:
 *
 *      una ........ oldest not completed
 *      send ....... being sent (wr[send], byte send_offset)
 *      sq.head .... next to fetch from the ring
 *
 * PSNs are assigned at fetch, so go-back-N is "set the cursor to the request that holds this PSN".
 */
#ifndef CORE_SEND_SIDE_H
#define CORE_SEND_SIDE_H

#include "emu/core/base/base.h"
#include "emu/core/queues/queues.h"

#include <stdbool.h>
#include <stdint.h>

/* Why nothing is sent although there is work. */
enum requester_blocked {
	BLOCKED_NOT,
	BLOCKED_STATE,      /* the QP's state does not send */
	BLOCKED_PSN_WINDOW, /* too much is unacknowledged */
	BLOCKED_FENCE,      /* fenced behind READs or atomics */
	BLOCKED_RD_ATOMIC,  /* max_rd_atomic are outstanding */
	BLOCKED_CREDIT,     /* the responder has no receive posted (9.7.7.2) */
	BLOCKED_RNR,        /* waiting out an RNR NAK */
	BLOCKED_PACE,       /* unreliable, in a pause (send_pace.h) */
	BLOCKED_RATE,       /* more would be above its rate limit (send_rate.h) */
	BLOCKED_CONGESTION, /* its congestion control lets no more leave now */
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

/* How much may be under way: send_window.h of send. */
struct send_window {
	uint32_t bytes;
	uint32_t known; /* it grows fast up to here */
	uint64_t acked; /* of the stream of all messages, when it was last looked at */
	bool cut;       /* a burst since then is shorter for it */
};

/* Its rate limit: send_rate.h of send. */
struct send_rate {
	uint32_t kbps;      /* 0: none */
	uint32_t max_burst; /* bytes; 0: not said */
	uint64_t next;      /* in the network's time */
	struct timer timer; /* of dev->rates */
};

/* Requests that were executed before their turn: early_local_inv.h of send. */
struct early_local_inv {
	uint8_t *result; /* enum early_result, one for each slot; NULL: the switch is off */
	uint32_t end;    /* ring index up to which the ring was looked at */
};

struct requester {
	struct send_queue sq;
	struct send_wr *wr;       /* sq.entries of them */
	struct uhca_abi_sge *sge; /* sq.entries * max_sge */
	uint32_t una, send;       /* ring indices */
	uint32_t send_offset;     /* bytes (READ: response bytes) of wr[send] already sent */
	uint32_t next_psn;        /* for the next request fetched */
	uint32_t una_psn;         /* oldest PSN not acknowledged */
	uint32_t high_psn;        /* one past the newest PSN ever sent */
	uint32_t rd_outstanding;  /* READ requests and atomics sent, unanswered */
	uint64_t start;           /* bytes of all requests fetched so far */
	struct send_window window;
	uint32_t ssn;              /* of the newest request fetched; the first is 1 */
	uint32_t credit_limit_ssn; /* SENDs with a higher number wait; valid with has_credits */
	bool has_credits;
	bool gap_seen; /* went back for what is missing at una_psn already */
	bool draining; /* SQD asked for, not reached yet */
	enum requester_blocked blocked;
	struct send_rate rate;
	uint8_t retries_left, rnr_left;
	uint8_t resent;       /* how often it went back since the last progress */
	uint64_t progress_at; /* of the timers: the last answer that moved una_psn, or the first
				 packet */
	struct timer timer;   /* local ACK timeout, or end of the RNR wait */
	struct early_local_inv early;
	struct uhca_abi_cause cause; /* of the status of the request at the cursor */
};

/* The request at ring index i (between una and sq.head). */
static inline struct send_wr *requester_wr(const struct requester *req, uint32_t i)
{
	return &req->wr[i & (req->sq.entries - 1)];
}

/* True while a packet that was sent is not acknowledged. */
static inline bool requester_outstanding(const struct requester *req)
{
	return req->una_psn != req->high_psn;
}

#endif
