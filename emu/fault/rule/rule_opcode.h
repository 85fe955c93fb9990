/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which packets opcode= selects: classes (send, ack, request ...), classes of one service
 * (rc.send), whole services (uc), names of wire/opcode.def (RC_SEND_ONLY), globs over these
 * (rc_write_*).
 */
#ifndef FAULT_RULE_OPCODE_H
#define FAULT_RULE_OPCODE_H

#include "rule_text.h"

/* A list of them, added to the selection. 0, or -EINVAL with the error filled in. */
int fault_opcode_parse(const struct fault_text *t, struct fault_piece p, struct fault_select *s);

/* The names of opcodes, in their order; NULL behind the last. */
const char *fault_opcode_at(unsigned i);

/* The names of classes, for fault_nearest; table is not used. */
const char *fault_class_at(const void *table, unsigned i);

/* What an opcode must be or have, for the actions that work on some packets only. */
struct fault_opcode_need {
	uint32_t headers; /* ROCE_HDR_*: all of them */
	bool answered;    /* a request of RC or XRC */
	bool acks_only;   /* of Acknowledge packets those that are ACKs */
	bool gsi;         /* may be a packet to QP 1 */
};

/*
 * Takes from the selection what does not have it; where opcode= was not given, selects all that
 * has. False: nothing is left, and the selection is unspecified.
 */
bool fault_opcode_restrict(struct fault_select *s, const struct fault_opcode_need *need);

/* Does the selection of opcode= have this packet? */
bool fault_opcode_selects(const struct fault_select *s, const struct roce_packet *pkt);

#endif
