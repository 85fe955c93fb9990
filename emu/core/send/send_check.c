/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a send request before it is sent: opcode, length, local keys, address handle. */
#include "send_check.h"

#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"
#include "fast_reg.h"
#include "masked_atomic.h"

#define MAX_MESSAGE 0x80000000u /* 9.7.7.1.4 and C9-1: 2^31 bytes */

enum { RC_ = 1, UC_ = 2, UD_ = 4, XRC_ = 8, RAW_ = 16 };

#define HAS_(feature) UHCA_ABI_HAS_##feature
#define ROW_(opcode, types, completion, operation, features)                                       \
	[UHCA_ABI_WR_##opcode] = {types, UHCA_ABI_WC_##completion, ROCE_OP_##operation, features}

/* Types: IBTA table 78, "work request operation support". */
const struct send_opcode send_opcodes[UHCA_ABI_WR_COUNT + 1] = {
	ROW_(RDMA_WRITE, RC_ | UC_ | XRC_, RDMA_WRITE, WRITE, 0),
	ROW_(RDMA_WRITE_WITH_IMM, RC_ | UC_ | XRC_, RDMA_WRITE, WRITE, 0),
	ROW_(SEND, RC_ | UC_ | UD_ | XRC_ | RAW_, SEND, SEND, 0),
	ROW_(SEND_WITH_IMM, RC_ | UC_ | UD_ | XRC_, SEND, SEND, 0),
	ROW_(RDMA_READ, RC_ | XRC_, RDMA_READ, READ_REQ, 0),
	ROW_(ATOMIC_CMP_AND_SWP, RC_ | XRC_, COMP_SWAP, CMP_SWAP, HAS_(ATOMICS)),
	ROW_(ATOMIC_FETCH_AND_ADD, RC_ | XRC_, FETCH_ADD, FETCH_ADD, HAS_(ATOMICS)),
	ROW_(LOCAL_INV, RC_ | UC_ | XRC_, LOCAL_INV, SEND, HAS_(INVALIDATE)),
	ROW_(BIND_MW, RC_ | UC_ | XRC_, BIND_MW, SEND, 0),
	ROW_(SEND_WITH_INV, RC_ | XRC_, SEND, SEND, HAS_(INVALIDATE)),
	ROW_(FLUSH, RC_ | XRC_, FLUSH, FLUSH, HAS_(FLUSH)),
	ROW_(ATOMIC_WRITE, RC_ | XRC_, ATOMIC_WRITE, ATOMIC_WRITE, HAS_(ATOMIC_WRITE)),
	/* With page list or block list: fast_reg.c tells them apart. */
	ROW_(REG_MR, RC_ | UC_ | XRC_, REG_MR, SEND, HAS_(FAST_REG)),
	ROW_(REG_INTERLEAVED, RC_ | UC_ | XRC_, REG_INTERLEAVED, SEND, HAS_(INTERLEAVED)),
	ROW_(REG_SG, RC_ | UC_ | XRC_, REG_SG, SEND, HAS_(SG)),
	ROW_(READ_WITH_INV, RC_ | XRC_, READ_WITH_INV, READ_REQ,
	     HAS_(READ_WITH_INV) | HAS_(INVALIDATE)),
	ROW_(MASKED_CMP_SWP, RC_, MASKED_CMP_SWP, MASKED_CMP_SWAP, HAS_(MASKED_ATOMICS)),
	ROW_(MASKED_FETCH_ADD, RC_, MASKED_FETCH_ADD, MASKED_FETCH_ADD, HAS_(MASKED_ATOMICS)),
};

static bool opcode_allowed(const struct qp *qp, uint8_t opcode)
{
	static const uint8_t bits[] = {[QPT_RC] = RC_,
				       [QPT_UC] = UC_,
				       [QPT_UD] = UD_,
				       [QPT_RAW_PACKET] = RAW_,
				       [QPT_XRC_SEND] = XRC_};
	unsigned bit = (unsigned)qp->type < sizeof bits ? bits[qp->type] : 0;

	return send_opcode(opcode)->types & bit;
}

/* What the profile of the device has taken away. */
static bool opcode_missing(const struct core_config *cfg, uint8_t opcode)
{
	if (opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM)
		return cfg->no_write_imm;
	if (opcode == UHCA_ABI_WR_SEND_WITH_IMM)
		return cfg->no_send_imm;
	return send_opcode(opcode)->features & ~cfg->features;
}

static bool is_masked(uint8_t opcode)
{
	return opcode == UHCA_ABI_WR_MASKED_CMP_SWP || opcode == UHCA_ABI_WR_MASKED_FETCH_ADD;
}

static bool is_read(uint8_t opcode)
{
	return opcode == UHCA_ABI_WR_RDMA_READ || opcode == UHCA_ABI_WR_READ_WITH_INV;
}

static bool writes_locally(uint8_t opcode)
{
	return is_read(opcode) || is_masked(opcode) || opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD;
}

uint32_t send_local_rights(const struct core_config *cfg, uint8_t opcode)
{
	if (!writes_locally(opcode))
		return 0;
	/* RFC 5040, 4.4: an iWARP READ names its sink to the peer, which then writes there. */
	if (is_read(opcode) && (cfg->features & UHCA_ABI_HAS_SINK_RULE))
		return MR_LOCAL_WRITE | MR_REMOTE_WRITE;
	return MR_LOCAL_WRITE;
}

uint32_t send_max_read_sge(const struct core_config *cfg)
{
	return cfg->features & UHCA_ABI_HAS_SINK_RULE ? 1 : cfg->limits.max_sge;
}

/* How many elements a READ may have; one that invalidates has exactly the one it invalidates. */
static bool elements_ok(const struct core_config *cfg, const struct uhca_abi_send_wqe *wqe)
{
	if (wqe->opcode == UHCA_ABI_WR_READ_WITH_INV && wqe->num_sge != 1)
		return false;
	return !is_read(wqe->opcode) || wqe->num_sge <= send_max_read_sge(cfg);
}

/* Masked atomics: a size the device has, and its operands in the data area. */
static bool operands_ok(const struct core_config *cfg, const struct uhca_abi_send_wqe *wqe)
{
	uint32_t size = wqe->masked.size;
	bool cas = wqe->opcode == UHCA_ABI_WR_MASKED_CMP_SWP;

	return masked_size_ok(cfg->features, size) &&
	       wqe->inline_length == masked_payload(cas, size);
}

/*
 * Keys of what is sent are judged before it leaves. Those of what an answer fills are judged when
 * the answer is there (sgl_write): a request that the peer refuses fails by that, and an atomic
 * whose answer has no place was executed (9.9.2.1, 11.6.2 name the error, not its moment; adapters
 * look at the list when they scatter). An iWARP READ names its sink to the peer, and a READ with
 * Invalidate what it takes away, so they are judged before.
 */
static bool keys_first(const struct core_config *cfg, uint8_t opcode)
{
	return !writes_locally(opcode) || opcode == UHCA_ABI_WR_READ_WITH_INV ||
	       (is_read(opcode) && (cfg->features & UHCA_ABI_HAS_SINK_RULE));
}

/* Length and keys of the payload, wherever it stands. */
static uint8_t check_payload(const struct qp *qp, const struct uhca_abi_send_wqe *wqe,
			     const struct sgl *l, uint64_t *length)
{
	if (wqe->flags & UHCA_ABI_SEND_INLINE) {
		*length = wqe->inline_length;
		return writes_locally(wqe->opcode) ? UHCA_ABI_WC_LOC_QP_OP_ERR : 0;
	}
	*length = sgl_length(l);
	if (*length > MAX_MESSAGE)
		return UHCA_ABI_WC_LOC_LEN_ERR;
	if ((wqe->flags & UHCA_ABI_SEND_GATHERED) &&
	    (*length != wqe->inline_length || writes_locally(wqe->opcode)))
		return UHCA_ABI_WC_LOC_QP_OP_ERR;
	if (keys_first(&qp->dev->cfg, wqe->opcode) &&
	    sgl_check(l, send_local_rights(&qp->dev->cfg, wqe->opcode)) != MR_OK)
		return UHCA_ABI_WC_LOC_PROT_ERR;
	if (wqe->opcode == UHCA_ABI_WR_READ_WITH_INV &&
	    !invalidate_allowed(qp_key_user(qp), l->sge[0].lkey))
		return UHCA_ABI_WC_LOC_PROT_ERR;
	return 0;
}

/* A low-latency QP reads no memory: payload is inline, or there is none to send. */
static bool must_be_inline(const struct qp *qp, const struct uhca_abi_send_wqe *wqe,
			   const struct sgl *l)
{
	return qp_is_urgent(qp) && !(wqe->flags & UHCA_ABI_SEND_INLINE) &&
	       !writes_locally(wqe->opcode) && sgl_length(l) > 0;
}

/* 10.2.2.2: the address handle must be of the QP's protection domain. */
static uint8_t check_datagram(const struct qp *qp, const struct uhca_abi_send_wqe *wqe,
			      uint64_t length)
{
	struct ah *ah;

	if (client_find(qp->obj.client, &qp->dev->ahs, wqe->ud.ah, &ah) || ah->pd != qp->pd)
		return UHCA_ABI_WC_LOC_QP_OP_ERR;
	return length > qp->mtu ? UHCA_ABI_WC_LOC_LEN_ERR : 0;
}

/* Lengths that an opcode prescribes: atomics 8 bytes (9.4.5, A19), FLUSH has no payload. */
static uint8_t check_length(const struct uhca_abi_send_wqe *wqe, uint64_t bytes)
{
	switch (wqe->opcode) {
	case UHCA_ABI_WR_ATOMIC_CMP_AND_SWP:
	case UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD:
	case UHCA_ABI_WR_ATOMIC_WRITE:
		return bytes == 8 ? 0 : UHCA_ABI_WC_LOC_LEN_ERR;
	case UHCA_ABI_WR_MASKED_CMP_SWP:
	case UHCA_ABI_WR_MASKED_FETCH_ADD:
		return bytes == wqe->masked.size ? 0 : UHCA_ABI_WC_LOC_LEN_ERR;
	case UHCA_ABI_WR_FLUSH:
		return bytes || wqe->flush.length > MAX_MESSAGE ? UHCA_ABI_WC_LOC_LEN_ERR : 0;
	default:
		return 0;
	}
}

uint8_t send_check(const struct qp *qp, const struct uhca_abi_send_wqe *wqe, const struct sgl *l,
		   uint32_t *length)
{
	uint64_t bytes = 0;
	uint8_t status;

	*length = 0;
	if (!opcode_allowed(qp, wqe->opcode) || opcode_missing(&qp->dev->cfg, wqe->opcode))
		return UHCA_ABI_WC_LOC_QP_OP_ERR;
	/* 10.8.3.3: the fence of LOCAL_INV is a feature of its own. */
	if (wqe->opcode == UHCA_ABI_WR_LOCAL_INV && (wqe->flags & UHCA_ABI_SEND_FENCE) &&
	    !(qp->dev->cfg.features & UHCA_ABI_HAS_INV_FENCE))
		return UHCA_ABI_WC_LOC_QP_OP_ERR;
	/* Keys of local operations are judged when their turn comes. */
	if (wqe->opcode == UHCA_ABI_WR_LOCAL_INV || wqe->opcode == UHCA_ABI_WR_BIND_MW ||
	    fast_reg_is(wqe->opcode))
		return 0;
	if (!elements_ok(&qp->dev->cfg, wqe))
		return UHCA_ABI_WC_LOC_QP_OP_ERR;
	if (is_masked(wqe->opcode) && !operands_ok(&qp->dev->cfg, wqe))
		return UHCA_ABI_WC_LOC_QP_OP_ERR;
	if (must_be_inline(qp, wqe, l))
		return UHCA_ABI_WC_LOC_QP_OP_ERR;
	status = check_payload(qp, wqe, l, &bytes);
	if (!status)
		status = check_length(wqe, bytes);
	if (!status && qp->type == QPT_UD)
		status = check_datagram(qp, wqe, bytes);
	if (!status)
		*length = (uint32_t)bytes;
	return status;
}

/* ---- why ---- */

static struct uhca_abi_cause
operation_cause(const struct qp *qp, const struct uhca_abi_send_wqe *wqe, const struct sgl *l)
{
	const struct core_config *cfg = &qp->dev->cfg;

	if (!opcode_allowed(qp, wqe->opcode) || opcode_missing(cfg, wqe->opcode))
		return CAUSE(OPERATION, .got = 0);
	if (!elements_ok(cfg, wqe))
		return CAUSE(ELEMENTS,
			     .expected = wqe->opcode == UHCA_ABI_WR_READ_WITH_INV
						 ? 1
						 : send_max_read_sge(cfg),
			     .got = wqe->num_sge);
	if (must_be_inline(qp, wqe, l))
		return CAUSE(INLINE, .got = sgl_length(l));
	if (qp->type == QPT_UD)
		return CAUSE(ADDRESS_HANDLE, .got = wqe->ud.ah);
	return CAUSE(OPERATION, .got = 0);
}

/* The length that the operation takes; of a message the most. */
static uint64_t right_length(const struct qp *qp, const struct uhca_abi_send_wqe *wqe)
{
	switch (wqe->opcode) {
	case UHCA_ABI_WR_ATOMIC_CMP_AND_SWP:
	case UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD:
	case UHCA_ABI_WR_ATOMIC_WRITE:
		return 8;
	case UHCA_ABI_WR_MASKED_CMP_SWP:
	case UHCA_ABI_WR_MASKED_FETCH_ADD:
		return wqe->masked.size;
	default:
		return qp->type == QPT_UD ? qp->mtu : MAX_MESSAGE;
	}
}

static struct uhca_abi_cause length_cause(const struct qp *qp, const struct uhca_abi_send_wqe *wqe,
					  const struct sgl *l)
{
	uint64_t bytes = wqe->flags & UHCA_ABI_SEND_INLINE ? wqe->inline_length : sgl_length(l);

	return CAUSE(MESSAGE_LENGTH, .expected = right_length(qp, wqe), .got = bytes);
}

static struct uhca_abi_cause local_op_cause(const struct qp *qp,
					    const struct uhca_abi_send_wqe *wqe)
{
	const struct key_access a = {wqe->bind.mr_lkey, wqe->bind.addr, wqe->bind.length,
				     MR_MW_BIND, false};
	struct uhca_abi_cause c;

	if (wqe->opcode == UHCA_ABI_WR_LOCAL_INV)
		return CAUSE(INVALIDATE, .key = wqe->imm);
	if (wqe->opcode != UHCA_ABI_WR_BIND_MW || !wqe->bind.length)
		return (struct uhca_abi_cause){.kind = UHCA_ABI_CAUSE_NONE};
	c = key_cause(qp_key_user(qp), &a);
	if (c.kind == UHCA_ABI_CAUSE_MEMORY) /* the region is right */
		c.kind = UHCA_ABI_CAUSE_NONE;
	return c;
}

struct uhca_abi_cause send_cause(const struct qp *qp, const struct uhca_abi_send_wqe *wqe,
				 const struct sgl *l, uint8_t status)
{
	switch (status) {
	case UHCA_ABI_WC_LOC_QP_OP_ERR:
		return operation_cause(qp, wqe, l);
	case UHCA_ABI_WC_LOC_LEN_ERR:
		return length_cause(qp, wqe, l);
	case UHCA_ABI_WC_LOC_PROT_ERR:
		return sgl_cause(l, send_local_rights(&qp->dev->cfg, wqe->opcode));
	case UHCA_ABI_WC_MW_BIND_ERR:
		return local_op_cause(qp, wqe);
	default:
		return (struct uhca_abi_cause){.kind = UHCA_ABI_CAUSE_NONE};
	}
}
