/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended CQs (ibv_create_cq_ex(3)): polling hands out one completion at a time and reads its
 * fields where they are, in the ring's entry, which the device does not get back before the next
 * one is asked for. The CQ's lock is held from a successful start_poll to end_poll.
 *
 * Time stamps are the device's clock, CLOCK_MONOTONIC in nanoseconds. The wall clock is that and
 * what the CQ found between the two when it was made: two looks at two clocks for each completion
 * would let it run backwards.
 */
#include "cq_ex.h"

#include "poll_cq.h"
#include "provider/base/base.h"
#include "provider/keys/keys.h"
#include "provider/queues/queues.h"
#include "wait_cq.h"

#include <errno.h>
#include <string.h>

#define FIELDS                                                                                     \
	((uint64_t)(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |         \
		    IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |              \
		    IBV_WC_EX_WITH_DLID_PATH_BITS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |          \
		    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK | IBV_WC_EX_WITH_FLOW_TAG))

static struct uhcav_cq *of(struct ibv_cq_ex *cqx)
{
	return (struct uhcav_cq *)(void *)cqx;
}

/* Of a few looks the one that took the least: between the clocks we may have had to wait. */
static uint64_t wall_offset(void)
{
	uint64_t least = UINT64_MAX, offset = 0;

	for (unsigned i = 0; i < 8; i++) {
		uint64_t before = uhcav_clock_ns(CLOCK_MONOTONIC),
			 wall = uhcav_clock_ns(CLOCK_REALTIME);
		uint64_t took = uhcav_clock_ns(CLOCK_MONOTONIC) - before;

		if (took < least) {
			least = took;
			offset = wall - (before + took / 2);
		}
	}
	return offset;
}

/* ---- polling ---- */

/* A completion that no entry stands for: the daemon died before it made one. */
static bool flush_one(struct uhcav_cq *cq)
{
	struct ibv_wc wc;

	if (uhcav_cq_flush(cq, 1, &wc) != 1)
		return false;
	cq->copy = (struct uhca_abi_cqe){.wr_id = wc.wr_id,
					 .status = (uint8_t)wc.status,
					 .opcode = (uint8_t)wc.opcode,
					 .qpn = wc.qp_num,
					 .timestamp = uhcav_clock_ns(CLOCK_MONOTONIC)};
	cq->current = &cq->copy;
	return true;
}

/* Finds the next completion. Under the lock. 0 or ENOENT. */
static int cqe_find(struct uhcav_cq *cq)
{
	enum uhcav_life life = uhcav_life(cq->ctx);

	cq->current = cq->flushing ? NULL : uhcav_cq_peek(cq);
	if (!cq->current)
		uhcav_cq_found_none(cq);
	if (!cq->current && (life != UHCAV_FATAL || !flush_one(cq)))
		return ENOENT;
	cq->cqx.wr_id = cq->current->wr_id;
	cq->cqx.status = (enum ibv_wc_status)cq->current->status;
	return 0;
}

/* Gives the device back the entry that was read. */
static void done(struct uhcav_cq *cq)
{
	if (cq->current && !cq->flushing)
		uhcav_cq_pass(cq, cq->current);
	cq->current = NULL;
}

static int start_poll(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct uhcav_cq *cq = of(cqx);
	int err;

	if (attr && attr->comp_mask)
		return uhcav_failed(uhcav_refuse(cq->ctx, "start_poll", EINVAL,
						 "comp_mask 0x%x has unknown bits",
						 attr->comp_mask));
	if (uhcav_life(cq->ctx) == UHCAV_FORKED)
		return uhcav_failed(EIO);
	uhcav_cq_lock(cq);
	err = cqe_find(cq);
	if (err) {
		bool takes_long = uhcav_cq_takes_long(cq);

		uhcav_unlock(&cq->lock);
		uhcav_cq_wait(takes_long); /* as poll_cq.c */
	} else {
		uhcav_waits_no_more();
	}
	return err;
}

static int next_poll(struct ibv_cq_ex *cqx)
{
	struct uhcav_cq *cq = of(cqx);

	done(cq);
	return cqe_find(cq);
}

static void end_poll(struct ibv_cq_ex *cqx)
{
	struct uhcav_cq *cq = of(cqx);

	done(cq);
	uhcav_unlock(&cq->lock);
}

/* ---- reading ---- */

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cqx)
{
	return (enum ibv_wc_opcode)of(cqx)->current->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->imm; /* or the invalidated key */
}

static uint32_t read_qp_num(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->qpn;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->flags & UHCAV_WC_PUBLIC_FLAGS;
}

static uint32_t read_slid(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->slid;
}

static uint8_t read_sl(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->dlid_path_bits;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cqx)
{
	return of(cqx)->current->timestamp;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *cqx)
{
	const struct uhcav_cq *cq = of(cqx);

	return cq->current->timestamp + cq->wall_offset;
}

/* What the steering rule of a raw packet said (ibv_create_flow(3)); 0 for all else. */
static uint32_t read_flow_tag(struct ibv_cq_ex *cqx)
{
	const struct uhca_abi_cqe *e = of(cqx)->current;

	return uhca_cqe_is_receive(e) ? e->wqe_index : 0;
}

/* ---- */

static void fill_functions(struct ibv_cq_ex *cqx)
{
	cqx->start_poll = start_poll;
	cqx->next_poll = next_poll;
	cqx->end_poll = end_poll;
	cqx->read_opcode = read_opcode;
	cqx->read_vendor_err = read_vendor_err;
	cqx->read_byte_len = read_byte_len;
	cqx->read_imm_data = read_imm_data;
	cqx->read_qp_num = read_qp_num;
	cqx->read_src_qp = read_src_qp;
	cqx->read_wc_flags = read_wc_flags;
	cqx->read_slid = read_slid;
	cqx->read_sl = read_sl;
	cqx->read_dlid_path_bits = read_dlid_path_bits;
	cqx->read_flow_tag = read_flow_tag;
	cqx->read_completion_ts = read_completion_ts;
	cqx->read_completion_wallclock_ns = read_completion_wallclock_ns;
}

/* What is asked for, as far as it exists here. 0 or -errno. */
static int translate(struct uhcav_context *ctx, struct ibv_cq_init_attr_ex *attr,
		     struct uhcav_cq_init *init)
{
	static const char verb[] = "create_cq_ex";
	const uint32_t known_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
	const uint32_t known_flags =
		IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;

	if (attr->wc_flags & ~FIELDS)
		return uhcav_refuse(ctx, verb, -EOPNOTSUPP,
				    "wc_flags 0x%llx has bits beyond 0x%llx",
				    (unsigned long long)attr->wc_flags, (unsigned long long)FIELDS);
	if (attr->comp_mask & ~known_mask)
		return uhcav_refuse(ctx, verb, -EOPNOTSUPP, "comp_mask 0x%x has bits beyond 0x%x",
				    attr->comp_mask, known_mask);
	if (flags & ~known_flags)
		return uhcav_refuse(ctx, verb, -EOPNOTSUPP, "flags 0x%x has bits beyond 0x%x",
				    flags, known_flags);
	if (attr->cqe > INT32_MAX || attr->comp_vector > INT32_MAX)
		return uhcav_refuse(ctx, verb, -EINVAL, "cqe %u or comp_vector %u is out of range",
				    attr->cqe, attr->comp_vector);
	*init = (struct uhcav_cq_init){
		.cqe = (int)attr->cqe,
		.comp_vector = (int)attr->comp_vector,
		.channel = attr->channel,
		.flags = flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN ? UHCA_ABI_CQ_IGNORE_OVERRUN : 0,
		.single_threaded = flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	return 0;
}

struct ibv_cq_ex *uhcav_create_cq_ex(struct ibv_context *ibctx, struct ibv_cq_init_attr_ex *attr)
{
	struct uhcav_cq_init init;
	struct uhcav_cq *cq;
	int err = translate(uhcav_context_of(ibctx), attr, &init);

	if (!err && (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)) {
		if (!attr->parent_domain || !uhcav_pd_is_parent(attr->parent_domain))
			err = uhcav_refuse(uhcav_context_of(ibctx), "create_cq_ex", -EINVAL,
					   "parent_domain is not a parent domain");
		else
			init.pd = attr->parent_domain;
	}
	if (!err)
		err = uhcav_cq_create(ibctx, &init, &cq);
	if (err)
		return uhcav_no_object(NULL, err);
	cq->wall_offset = wall_offset();
	fill_functions(&cq->cqx);
	return &cq->cqx;
}

int uhcav_query_rt_values(struct ibv_context *ibctx, struct ibv_values_ex *values)
{
	if (values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return uhcav_failed(uhcav_refuse(uhcav_context_of(ibctx), "query_rt_values_ex",
						 EOPNOTSUPP, "comp_mask 0x%x: only the raw clock",
						 values->comp_mask));
	memset(&values->raw_clock, 0, sizeof(values->raw_clock));
	if (values->comp_mask)
		values->raw_clock.tv_nsec = (long)uhcav_clock_ns(CLOCK_MONOTONIC);
	return 0;
}
