/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of the connection manager made up in the name of the other end (IBTA vol. 1, 12.6). */
#ifndef FAULT_CM_ANSWER_H
#define FAULT_CM_ANSWER_H

#include "packet_change.h"

/*
 * A reject with this reason for a REQ or a REP, and for a SIDR_REQ its "rejected". False: the
 * packet is none of these.
 */
bool fault_cm_reject(const struct fault_packet *p, uint16_t reason, struct fault_packet *out);

/* "I am at it": the sender of a REQ or a REP shall wait for at least so many ns. */
bool fault_cm_mra(const struct fault_packet *p, uint64_t ns, struct fault_packet *out);

#endif
