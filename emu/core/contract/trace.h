/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device tells of itself while it works: one record for each step that a person would
 * want to see, handed to core_ops.trace. Part of core.h.
 */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include "emu/abi/cause.h"

#include <stdbool.h>
#include <stdint.h>

enum core_trace_point {
	CORE_TRACE_QP_STATE, /* a = old state, b = new state; c is the shell's: a program asks for
				it */
	CORE_TRACE_TX,       /* a = psn, b = packets */
	CORE_TRACE_RX,       /* a = psn, b = packets */
	CORE_TRACE_RX_DROP,  /* a = psn, b = enum core_drop, c = packets from this PSN on; cause */
	CORE_TRACE_JUDGED,   /* a = psn, b = enum core_judgement, c = packets; cause */
	CORE_TRACE_NAK,      /* sent: a = psn, b = syndrome; cause */
	CORE_TRACE_RETRY,    /* a = psn, b = retries left of its kind, c = enum core_retry */
	CORE_TRACE_CQE,      /* a = status, b = opcode, c = vendor error; all fields below; cause */
	CORE_TRACE_REQUEST,  /* about to fail: a = first psn, b = psns, c = opcode; remote, below */
	CORE_TRACE_EVENT,    /* a = UHCA_ABI_EVENT_*, b = its QP, or handle of its CQ, SRQ, WQ */
	CORE_TRACE_POINTS
};

/* What became of requests that were neither executed nor dropped. */
enum core_judgement {
	CORE_JUDGED_DUPLICATE, /* answered again, not executed again */
	CORE_JUDGED_REFUSED,   /* answered with a NAK */
	CORE_JUDGED_NOT_READY, /* answered with an RNR NAK */
	CORE_JUDGED_FAILED,    /* not answered: an error of this side alone (9.9.6.3, class J) */
	CORE_JUDGEMENTS
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
	/* Of requests. */
	uint64_t remote_addr;
	uint32_t rkey, peer_qpn;
	const struct uhca_abi_cause *cause; /* NULL: not known, or none; valid for the call */
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
 * CORE_HOOK_COMPLETION or CORE_HOOK_MEMORY is set, no payload is copied on poll (copy_on_poll.h).
 */
void core_hooks_set(struct device *dev, uint32_t hooks);

/*
 * Where the packets of a burst come from, for who looks at them on their way: nothing of this
 * travels. Zero where it is not known, as of packets that came by the network.
 */
struct core_burst_model {
	uint64_t wr_id;
	uint32_t qpn;    /* of the sender */
	uint32_t offset; /* bytes of the message before this burst */
	uint32_t total;  /* bytes of the message */
	uint32_t mtu;    /* bytes of each of its packets but the last */
	uint32_t rule;   /* the shell's: the fault rule that touched it last */
	uint8_t tries;   /* how often its first packet was sent before */
	bool has_wr;     /* a request or part of one: wr_id, offset, total */
	bool bad_icrc;   /* the shell's: goes out with a wrong ICRC, and nobody takes it */
	bool made;       /* the shell's: no device sent it, a rule made it */
};

#endif
