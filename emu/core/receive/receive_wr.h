/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receive requests as the responder uses them: take one from the QP's queue or its SRQ, put data
 * into it, complete it.
 */
#ifndef CORE_RECEIVE_WR_H
#define CORE_RECEIVE_WR_H

#include "emu/core/qp/queue_pair.h"

/*
 * Makes sure that resp.wr holds a receive request. False when none is posted (or the ring is
 * broken, in which case the QP or SRQ has been failed).
 */
bool receive_take(struct qp *qp);

/* The same for a datagram of so many bytes: a request that is too short stays in its queue. */
enum receive_fit { RECEIVE_TAKEN, RECEIVE_NONE, RECEIVE_TOO_SHORT };
enum receive_fit receive_take_fitting(struct qp *qp, uint64_t length);

/* Bytes the request at hand can take. */
uint64_t receive_capacity(const struct qp *qp);

/* Scatters data from offset on. 0 or -EFAULT. */
int receive_place(struct qp *qp, uint32_t offset, const struct iovec *iov, unsigned n);

/*
 * The whole message in place of receive_place, where the program may copy it on poll
 * (cq_copy_on_poll): it stands in one piece of ordinary memory of the client that has the
 * completion queue.
 */
bool receive_copy_on_poll(struct qp *qp, const struct iovec *iov, unsigned n,
			  struct uhca_abi_cqe *e);

/* Why the request at hand cannot take what came (key_cause.h). */
struct uhca_abi_cause receive_cause(const struct qp *qp);

/*
 * Completes the request at hand: *e has opcode, status, flags, byte_len and what else the caller
 * knows; wr_id and QP number are filled in here.
 */
void receive_complete(struct qp *qp, struct uhca_abi_cqe *e);

/*
 * The same behind the last packet of a message, which is at the end of the burst and has the opcode
 * that "last" tells of: immediate data and the solicited flag are filled in, too.
 */
void receive_complete_last(struct qp *qp, const struct core_burst *t,
			   const struct roce_opcode_info *last, struct uhca_abi_cqe *e);

/* The QP is reset or ends: a request at hand will not complete. An SRQ's owner is told (srq.h). */
void receive_abandon(struct qp *qp);

/* Credits for an AETH (9.7.7.2): receives posted, or "unlimited" with an SRQ. */
uint8_t receive_credits(const struct qp *qp);

#endif
