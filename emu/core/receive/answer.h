/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an RC responder owes its requester: answers to READs and atomics in the order of their
 * PSNs, and behind them one acknowledgement. Later ACKs replace earlier ones
 * (coalescing, 9.7.5.1.1); the answer to a READ acknowledges what came before it.
 */
#ifndef CORE_ANSWER_H
#define CORE_ANSWER_H

#include "emu/core/qp/queue_pair.h"

/*
 * Acknowledge everything up to psn: at once, or (patient) when the QP sends a request, when more
 * is to be acknowledged with it, or when config.ack_delay_ns is over.
 */
void answer_ack(struct qp *qp, uint32_t psn, bool patient);

/*
 * True while the pending ACK, of a short message that came over a network, lets a request go first
 * that is ready: the two leave as one datagram run when the shorter one is the last. Also when the
 * ACK's time to wait is over; then it goes next if there is no request.
 */
bool answer_stands_back(const struct qp *qp);

/* True while the pending ACK waits for company. */
bool answer_waits(const struct qp *qp);

/* Its company was just sent: it goes right behind. */
void answer_follow(struct qp *qp);

/* The QPs whose ACK should wait no longer than until now are ready; false when there is none. */
bool answer_wake(struct device *dev, uint64_t now);

/* NAK or RNR NAK at the expected PSN. */
void answer_nak(struct qp *qp, uint8_t syndrome);

/* A READ or atomic was accepted: keep it for duplicates and answer it. */
void answer_new(struct qp *qp, const struct replay_entry *e);

/* A duplicate asks for bytes [start, end) of a resource again. */
void answer_again(struct qp *qp, struct replay_entry *e, uint32_t start, uint32_t end);

/*
 * The error state: READs and atomics are not answered any more; what was received before is
 * still acknowledged, unless their answers should have come first. When it is this QP that refuses
 * a request, those before the refused one have their answers first: a requester takes responses
 * in the order of its requests (9.7.5.1.1).
 */
void answer_forget(struct qp *qp);

/* The ACK or NAK that is owed, as if sent now, when nothing has to go before it. */
bool answer_last(struct qp *qp, struct core_burst *out);

/* An empty packet without opcode, to be filled in. */
void answer_begin(uint32_t to_qpn, uint32_t psn, const struct roce_flow *flow,
		  struct core_burst *t);

#endif
