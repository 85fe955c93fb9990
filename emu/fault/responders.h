/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the responders of connections said last of themselves in an AETH, so that an answer in the
 * name of one can go on where it was: how many messages it has done (MSN), what credits it gives.
 * A table with few places, where newer connections push out older ones: whose place is lost
 * answers as one that was never heard.
 */
#ifndef FAULT_RESPONDERS_H
#define FAULT_RESPONDERS_H

#include "packet_change.h"

#define FAULT_RESPONDERS 256u

struct fault_responder {
	uint8_t address[16];
	uint32_t requester; /* QP number to which it answers */
	uint32_t msn;
	uint8_t credits;
};

struct fault_responders {
	struct fault_responder slot[FAULT_RESPONDERS];
};

/* A packet went by; it may be an answer. */
void fault_responders_hear(struct fault_responders *r, const struct fault_packet *p);

/* Who answers from this address to this requester; as new where it was not heard. */
struct fault_responder *fault_responders_find(struct fault_responders *r, const uint8_t address[16],
					      uint32_t requester);

#endif
