/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device tells of itself while it works: one record for each step that a person would
 * want to see, handed to core_ops.trace. Part of core.h.
 */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

enum core_trace_point {
	CORE_TRACE_QP_STATE, /* a = old state, b = new state */
	CORE_TRACE_TX,       /* a = psn, b = packets */
	CORE_TRACE_RX,       /* a = psn, b = packets */
	CORE_TRACE_RX_DROP,  /* a = psn, b = enum core_drop; the train from this PSN on */
	CORE_TRACE_NAK,      /* sent: a = psn, b = syndrome */
	CORE_TRACE_RETRY,    /* a = psn, b = retries left of its kind, c = enum core_retry */
	CORE_TRACE_CQE,      /* a = status, b = opcode, c = vendor error; all fields below */
	CORE_TRACE_EVENT,    /* a = UHCA_ABI_EVENT_*, b = its QP, or handle of its CQ, SRQ, WQ */
	CORE_TRACE_POINTS
};

/* Why requests are sent again. */
enum core_retry {
	CORE_RETRY_TIMEOUT, /* no answer came in time (9.7.6.1.3) */
	CORE_RETRY_NAK,     /* a NAK of code PSN sequence error (9.7.5.2.1) */
	CORE_RETRY_GAP,     /* an answer that was to come is missing: an implied NAK (9.7.5.2.4) */
	CORE_RETRY_RNR,     /* an RNR NAK */
};

struct core_trace {
	enum core_trace_point point;
	uint32_t qpn;
	uint32_t a, b, c;
	/* Of completions. */
	uint32_t cqn;
	uint32_t length; /* bytes */
	uint64_t wr_id;
};

/* Why a packet was dropped without an answer; indexes the drop counters. */
enum core_drop {
	CORE_DROP_NO_QP,
	CORE_DROP_STATE,   /* QP not in a state that receives */
	CORE_DROP_SERVICE, /* opcode of another service than the QP's */
	CORE_DROP_ADDRESS, /* not from the QP's peer */
	CORE_DROP_PKEY,
	CORE_DROP_QKEY,
	CORE_DROP_SEQUENCE,  /* behind a NAK that is on its way, or UC out of order */
	CORE_DROP_DUPLICATE, /* nothing to replay */
	CORE_DROP_RESPONSE,  /* acknowledges nothing that is outstanding */
	CORE_DROP_NO_RECV,   /* UD or UC without a posted receive, or whose memory is silent */
	CORE_DROP_LENGTH,
	CORE_DROP_PORT, /* the port is down */
	CORE_DROP_COUNT
};

/* Which of the optional operations are called: bit p for trace point p, and: */
#define CORE_HOOK_TRACE_ALL  ((1u << CORE_TRACE_POINTS) - 1)
#define CORE_HOOK_COMPLETION (1u << 31)
#define CORE_HOOK_MEMORY     (1u << 29) /* somebody wants to see what happens to memory */
#define CORE_HOOK_ERRORS     (1u << 30) /* trace point CQE, of completions that are no success */

struct device;

/*
 * After core_create all trace points are on when ops->trace is there, and nothing else. While
 * CORE_HOOK_COMPLETION or CORE_HOOK_MEMORY is set, no payload is offered (offer.h).
 */
void core_hooks_set(struct device *dev, uint32_t hooks);

/*
 * Where the packets of a train come from, for who looks at them on their way: nothing of this
 * travels. Zero where it is not known, as of packets that came by the network.
 */
struct core_train_story {
	uint64_t wr_id;
	uint32_t qpn;    /* of the sender */
	uint32_t offset; /* bytes of the message before this train */
	uint32_t total;  /* bytes of the message */
	uint32_t mtu;    /* bytes of each of its packets but the last */
	uint32_t rule;   /* the shell's: the fault rule that touched it last */
	uint8_t tries;   /* how often its first packet was sent before */
	bool has_wr;     /* a request or part of one: wr_id, offset, total */
	bool bad_icrc;   /* the shell's: goes out with a wrong ICRC, and nobody takes it */
	bool made;       /* the shell's: no device sent it, a rule made it */
};

#endif
