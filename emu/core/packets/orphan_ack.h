/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Acknowledgements that outlive their QP. A receive completes before its ACK is sent; a program
 * that takes the completion and destroys the QP at once must not leave its peer to time out, as
 * it would not with hardware, which has sent the ACK long before a command can reach it.
 */
#ifndef CORE_ORPHAN_ACK_H
#define CORE_ORPHAN_ACK_H

#include "emu/core/qp/queue_pair.h"

#include <stdbool.h>

#define ORPHAN_ACK_MAX 64u

struct orphan_ack {
	uint32_t head, used; /* ring */
	struct {
		struct roce_flow flow;
		uint32_t qpn; /* of the QP that is gone, for records of a capture */
		struct roce_bth bth;
		struct roce_aeth aeth;
	} owed[ORPHAN_ACK_MAX];
};

/*
 * When a QP is about to forget what it owes: keeps its pending ACK or NAK, unless a READ is to be
 * answered before it. When there is no room the peer repeats its request and times out.
 */
extern const struct qp_engine orphan_ack_engine;

/* The oldest one kept, as a burst. False when there is none. */
bool orphan_ack_next(struct orphan_ack *f, struct core_burst *out);

#endif
