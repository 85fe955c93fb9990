/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A burst of requests as the responder sees it: what its opcodes say, and what judging or executing
 * it found. For responder.c and execute.c.
 */
#ifndef CORE_REQUEST_H
#define CORE_REQUEST_H

#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"

/* What a stage found; two tables in responder.c say what that means on the wire and for the QP. */
enum verdict {
	V_OK,
	V_DONE,      /* handled completely by the stage (duplicate, dropped) */
	V_SPLIT,     /* judge packet by packet */
	V_SEQUENCE,  /* PSN beyond the expected one */
	V_INVALID,   /* invalid request */
	V_ACCESS,    /* remote access error */
	V_OPERATION, /* the responder could not do it */
	V_RNR,       /* no receive posted */
	V_LENGTH,    /* SEND longer than the receive */
	V_KEY,       /* SEND with Invalidate of a key that it may not */
	V_COUNT
};

/* The verdict, and why: whoever is told of what follows is told that, too. */
static inline enum verdict request_fault(struct qp *qp, enum verdict v, struct uhca_abi_cause cause)
{
	device_because(qp->dev, &cause);
	return v;
}

static inline const struct roce_opcode_info *request_info(const struct core_burst *t)
{
	return roce_opcode_info(t->head.bth.opcode);
}

static inline const struct roce_opcode_info *request_last_info(const struct core_burst *t)
{
	return roce_opcode_info(t->last_opcode);
}

static inline bool request_is_message(const struct core_burst *t)
{
	return request_info(t)->operation == ROCE_OP_SEND ||
	       request_info(t)->operation == ROCE_OP_WRITE;
}

/* Annex A19. */
static inline bool request_is_placement(const struct core_burst *t)
{
	return request_info(t)->operation == ROCE_OP_FLUSH ||
	       request_info(t)->operation == ROCE_OP_ATOMIC_WRITE;
}

static inline bool request_is_masked(const struct core_burst *t)
{
	return request_info(t)->operation == ROCE_OP_MASKED_CMP_SWAP ||
	       request_info(t)->operation == ROCE_OP_MASKED_FETCH_ADD;
}

static inline bool request_ends_message(const struct core_burst *t)
{
	return roce_opcode_is_last(t->last_opcode);
}

/* PSNs a burst uses: a READ request takes one for each packet of its response (9.7.2). */
static inline uint32_t request_psns(const struct qp *qp, const struct core_burst *t)
{
	if (request_info(t)->operation != ROCE_OP_READ_REQ)
		return t->count;
	return qp_packets(qp, t->head.reth.length);
}

/* The last packet takes a receive request: SEND, or WRITE with immediate data. */
static inline bool request_wants_receive(const struct core_burst *t)
{
	return request_info(t)->operation == ROCE_OP_SEND ||
	       (request_last_info(t)->headers & ROCE_HDR_IMMDT) != 0;
}

/* The rights a FLUSH needs of QP and region (A19.4.2). */
static inline uint32_t request_flush_rights(const struct core_burst *t)
{
	uint8_t placement = t->head.feth.placement;

	return (placement & 1 ? MR_FLUSH_GLOBAL : 0) | (placement & 2 ? MR_FLUSH_PERSISTENT : 0);
}

#endif
