/* SPDX-License-Identifier: BSD-2-Clause */
/* Executes registrations of a send queue: REG_MR, REG_INTERLEAVED, REG_SG. */
#include "fast_reg.h"

#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"

#include <string.h>

static uint32_t shape_of(const struct uhca_abi_send_wqe *wqe)
{
	switch (wqe->opcode) {
	case UHCA_ABI_WR_REG_INTERLEAVED:
		return UHCA_ABI_SHAPE_INTERLEAVED;
	case UHCA_ABI_WR_REG_SG:
		return UHCA_ABI_SHAPE_SG;
	default:
		return wqe->reg.page_shift ? UHCA_ABI_SHAPE_PAGES : UHCA_ABI_SHAPE_BLOCKS;
	}
}

/* The key that the request names, if the queue may describe it now. */
static struct mr *find_key(const struct qp *qp, const struct uhca_abi_send_wqe *wqe)
{
	struct mr *mr = table_find(&qp->dev->mrs, wqe->reg.key >> 8);

	if (!mr || mr->obj.kind != KEY_MR || mr->kind != MR_KIND_INDIRECT || mr->pd != qp->pd)
		return NULL;
	/* 10.6.6: a fast registration takes a key in the invalid state. */
	if (wqe->opcode == UHCA_ABI_WR_REG_MR && mr->ind->shape)
		return NULL;
	return mr;
}

bool fast_reg_run(struct qp *qp, const struct send_wr *w)
{
	struct mr *mr = find_key(qp, &w->wqe);
	uint32_t bytes = w->wqe.inline_length;
	uint64_t *list = qp->dev->list;

	if (!mr || bytes > sizeof(qp->dev->list))
		return false;
	/* The client can still write to the slot: what is checked is what is taken over. */
	memcpy(list, send_data(&qp->req.sq, w->index), bytes);
	return indirect_describe(mr, shape_of(&w->wqe), &w->wqe.reg, list, bytes) == 0;
}
