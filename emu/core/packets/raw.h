/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raw packet queue pairs: whole Ethernet frames out as they were posted, and in as steering
 * (flow.h) finds them. They have no peer, no PSNs and nothing to retransmit.
 */
#ifndef CORE_RAW_H
#define CORE_RAW_H

#include "emu/core/qp/queue_pair.h"
#include "wire/frame.h"

/*
 * The next frame of a QP into buf (cap bytes). False when it has none, or may not send.
 */
bool raw_transmit(struct qp *qp, uint8_t *buf, size_t cap, struct core_frame *out);

/*
 * A rule gives the frame to the QP; f is the same frame parsed, tag what the rule says (0: none).
 */
void raw_receive(struct qp *qp, const struct core_frame *frame, const struct roce_frame *f,
		 uint32_t tag);

#endif
