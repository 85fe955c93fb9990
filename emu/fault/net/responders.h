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
	/* It refused a request that is to come again: what follows that one is not looked at. */
	uint32_t refused_psn;
	uint64_t refuses_until;
	uint32_t rule; /* whose doing it was */
	/* A ghost did requests up to, not including, this one. */
	bool ghost;
	uint32_t ghost_psn;
};

struct fault_responders {
	uint64_t refuse_until; /* the latest of all */
	struct fault_responder slot[FAULT_RESPONDERS];
};

/* A packet went by; it may be an answer. */
void fault_responders_hear(struct fault_responders *r, const struct fault_packet *p);

/* Who answers from this address to this requester; as new where it was not heard. */
struct fault_responder *fault_responders_find(struct fault_responders *r, const uint8_t address[16],
					      uint32_t requester);

/*
 * In the name of a responder a request was refused with an RNR NAK, or as out of sequence: what is
 * under way behind it is dropped without an answer until it comes again (9.7.5.2.8), else the real
 * responder would report a gap. What comes much later is no such packet, whatever its number.
 */
void fault_responders_refuse(struct fault_responders *r, struct fault_responder *who,
			     const struct fault_packet *request, uint64_t now);

/* Does a request stand behind one that was refused? Then by which rule; 0: no. */
uint32_t fault_responders_refused(struct fault_responders *r, const struct fault_packet *request,
				  uint32_t requester, uint64_t now);

#endif
