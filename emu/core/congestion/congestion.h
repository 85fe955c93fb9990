/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Congestion control of connected QPs (IBTA vol. 1, annex A17.9): a marked packet brings a
 * congestion notification (CNP) to its sender, whose control (emu/core/cc) says how fast and how
 * much may leave. The sender's packets are ECN-capable then. qp->congestion is NULL where the
 * device has none: callers look at that first.
 *
 * Datagrams are not controlled. Answers to a peer's READs keep to the rate; they have no window,
 * because nobody acknowledges them.
 */
#ifndef CORE_CONGESTION_H
#define CORE_CONGESTION_H

#include "emu/core/qp/queue_pair.h"

/* ---- reaction point: reaction.c ---- */

/* The request or READ response says whether its sender reacts to marks: ECT(0) or not. */
void congestion_set_ecn(const struct qp *qp, struct roce_flow *flow);

/* May it send now? If not it goes on by itself when its rate allows. */
bool congestion_allows(struct qp *qp);

/* Payload of one burst at the most: of what its rate has in a tenth of a millisecond. */
size_t congestion_most(const struct qp *qp, size_t cap);

/* Payload that its window leaves while so many packets are under way. */
uint32_t congestion_room(const struct qp *qp, uint32_t packets);

/* The burst leaves now. Requests of reliable services, the first time: timed is true. */
void congestion_sent(struct qp *qp, const struct core_burst *t, bool timed);

/* The peer acknowledged so many packets of requests that no response answers: to una_psn. */
void congestion_acked(struct qp *qp, uint32_t packets);

/* Something got lost. */
void congestion_lost(struct qp *qp);

/* So many CNPs came. */
void congestion_notified(struct qp *qp, uint32_t count);

/* ---- notification point: notification.c ---- */

/* The burst arrived with a mark (CE). Also of QPs without congestion control: it counts. */
void congestion_marked(struct qp *qp, const struct core_burst *t);

/* The CNP that is due. False: none. */
bool congestion_transmit(struct qp *qp, struct core_burst *out);

/* The ACK is not ECN-capable; where the control wants it, it says that a packet was marked. */
void congestion_fill_ack(struct qp *qp, struct core_burst *ack);

/* ---- life ---- */

/* The control begins when the QP is told of its peer (RTR). */
extern const struct qp_engine congestion_engine;

#endif
