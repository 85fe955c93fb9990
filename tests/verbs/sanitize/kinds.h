/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Beside the pair: queue pairs of other kinds, on a's completion queue and with a's memory, and
 * requests that pair.h has not.
 */
#ifndef KINDS_H
#define KINDS_H

#include "tests/verbs/sanitize/pair.h"

/* A UD queue pair that can send and receive, made for so much inline data. */
struct ibv_qp *pair_ud(struct pair *p, uint32_t max_inline);

/* Sends a datagram from the second half of a's memory, and waits for the completion. */
void pair_ud_send(struct pair *p, struct ibv_qp *from, const struct ibv_qp *to, unsigned flags,
		  uint32_t length);

/* A receive of the end's memory for another queue pair than its own. */
void pair_recv_at(struct end *e, struct ibv_qp *qp, uint32_t offset, uint32_t length);

/* An SRQ with four receives of a's memory; an RC queue pair on it, connected with itself. */
struct ibv_srq *pair_srq(struct pair *p);
void pair_srq_recv(struct pair *p, struct ibv_srq *srq, uint32_t offset);
struct ibv_qp *pair_shared(struct pair *p, struct ibv_srq *srq);

/* Sends itself a message; the offset of the receive of its SRQ that took it. */
uint32_t pair_use(struct pair *p, struct ibv_qp *qp);

/* Ends a queue pair of an SRQ as it is to be done. */
void pair_drain(struct pair *p, struct ibv_qp *qp);

/* Adds 1 to b's memory at the offset; what was there goes to a's. */
void pair_add(struct pair *p, uint32_t offset);

/* The next completion. */
void pair_next(struct end *e, struct ibv_wc *wc);

#endif
