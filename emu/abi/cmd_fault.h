/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fault rules about verbs that need no control message: while the status page says so
 * (post_faults), the provider asks before each of them what is to become of it.
 */
#ifndef UHCA_ABI_CMD_FAULT_H
#define UHCA_ABI_CMD_FAULT_H

#include "cmd_header.h"

enum {
	UHCA_FAULT_POST_SEND = 0,
	UHCA_FAULT_POST_RECV = 1,
	UHCA_FAULT_POST_SRQ_RECV = 2,
	UHCA_FAULT_WR_COMPLETE = 3,
	UHCA_FAULT_REQ_NOTIFY_CQ = 4,
	UHCA_FAULT_BIND_MW = 5,
	UHCA_FAULT_POST_WQ_RECV = 6,
	UHCA_FAULT_VERBS
};

/* FAULT_CHECK: what is not named by the verb is 0. */
struct uhca_cmd_fault_check {
	struct uhca_cmd_request h;
	uint32_t verb;
	uint32_t qpn;
	uint32_t srq, cq;  /* handles */
	uint32_t requests; /* in the list that is to be posted */
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_fault_check) == 40, "fault_check");

struct uhca_cmd_fault_check_reply {
	struct uhca_cmd_reply h;
	uint32_t error; /* errno value that the call is to return; 0: it is to work */
	uint32_t first; /* so many requests of the list are posted before it fails */
};
static_assert(sizeof(struct uhca_cmd_fault_check_reply) == 24, "fault_check reply");

/*
 * REFUSED: the library has refused a call by itself; for the log, and posts for captures, too. Not
 * told where nobody hears (region.h). Reply: the header.
 */
struct uhca_cmd_refused {
	struct uhca_cmd_request h;
	uint32_t error; /* errno value */
	uint32_t qpn;   /* of a post's QP; else 0 */
	uint64_t wr_id;
	uint32_t state; /* of the QP (enum ibv_qp_state) */
	uint32_t reserved;
	char verb[32];             /* "post_send", ... */
	char why[UHCA_ABI_REASON]; /* with an end */
};
static_assert(sizeof(struct uhca_cmd_refused) == 264, "refused");

#endif
