/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder half of a QP: checks each request burst stage by stage, executes it, and queues
 * what is to be answered (IBTA vol. 1, 9.7.4 to 9.7.5 for RC, 9.8.2 UC, 9.8.3 UD).
 */
#ifndef CORE_RESPONDER_H
#define CORE_RESPONDER_H

#include "emu/core/qp/queue_pair.h"

/* A burst of requests for a connected QP (RC, UC). */
void responder_receive(struct qp *qp, const struct core_burst *t);

/* A datagram (UD). In responder_ud.c. */
void responder_receive_ud(struct qp *qp, const struct core_burst *t);

/* Builds the next answer: READ response, atomic acknowledge, ACK or NAK. In answer.c. */
bool responder_transmit(struct qp *qp, uint8_t *buf, size_t cap, struct core_burst *out);

#endif
