/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets made up in the name of the other end: what its responder would send back for a request
 * (IBTA vol. 1, 9.7.5), and the congestion notification for any packet (annex A17.9.3).
 */
#ifndef FAULT_FORGE_H
#define FAULT_FORGE_H

#include "packet_change.h"
#include "responders.h"

/* A request of RC or XRC, which has an answer; and one that an ACK alone answers. */
bool fault_is_request(const struct fault_packet *p);
bool fault_is_message(const struct fault_packet *p);

/*
 * An Acknowledge for the request, with the AETH syndrome as it is. requester: the QP it is from.
 * who tells the MSN. False: the packet is no request.
 */
bool fault_answer(const struct fault_packet *request, uint32_t requester, uint8_t syndrome,
		  const struct fault_responder *who, struct fault_packet *out);

/* A CNP to the sender of a packet. False: none is sent for this one (a CNP, a multicast, QP 1). */
bool fault_answer_cnp(const struct fault_packet *p, uint32_t sender, struct fault_packet *out);

/* An empty packet that goes back where p came from. */
void fault_answer_begin(const struct fault_packet *p, struct fault_packet *out);

#endif
