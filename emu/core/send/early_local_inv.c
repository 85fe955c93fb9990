/* SPDX-License-Identifier: BSD-2-Clause */
/* Legal chaos: executes a LOCAL_INV without fence as soon as it is posted. */
#include "early_local_inv.h"

#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"
#include "send_check.h"

#include <errno.h>
#include <stdlib.h>

int early_local_inv_construct(struct early_local_inv *e, uint32_t entries)
{
	e->result = calloc(entries ? entries : 1, sizeof(*e->result));
	return e->result ? 0 : -ENOMEM;
}

void early_local_inv_destruct(struct early_local_inv *e)
{
	free(e->result);
	e->result = NULL;
}

static bool is_loose(const struct uhca_abi_send_wqe *wqe)
{
	return wqe->opcode == UHCA_ABI_WR_LOCAL_INV && !(wqe->flags & UHCA_ABI_SEND_FENCE);
}

/* Requests that will be refused for other reasons are left to their turn. */
static bool wanted(const struct qp *qp, const struct uhca_abi_send_wqe *wqe)
{
	const struct sgl none = {qp->dev, qp->pd, NULL, 0};
	uint32_t length;

	return is_loose(wqe) && send_check(qp, wqe, &none, &length) == 0;
}

static uint8_t *result_of(const struct qp *qp, uint32_t index)
{
	return &qp->req.early.result[index & (qp->req.sq.entries - 1)];
}

void early_local_inv_look(struct qp *qp)
{
	struct early_local_inv *e = &qp->req.early;
	struct uhca_abi_send_wqe wqe;

	if (!e->result || qp->state != QPS_RTS)
		return;
	if ((int32_t)(e->end - qp->req.sq.head) < 0)
		e->end = qp->req.sq.head;
	for (; send_peek(&qp->req.sq, e->end, &wqe) == FETCH_OK; e->end++) {
		uint8_t *result = result_of(qp, e->end);

		*result = EARLY_NOT;
		if (wanted(qp, &wqe))
			*result = invalidate_key(qp_key_user(qp), wqe.imm) ? EARLY_DONE
									   : EARLY_FAILED;
	}
}

enum early_result early_local_inv_result(const struct qp *qp, uint32_t index,
					 const struct uhca_abi_send_wqe *wqe)
{
	const struct early_local_inv *e = &qp->req.early;

	/*
	 * The client can write to its slot meanwhile: what is no LOCAL_INV any more was not done.
	 */
	if (!e->result || (int32_t)(e->end - index) <= 0 || !is_loose(wqe))
		return EARLY_NOT;
	return (enum early_result) * result_of(qp, index);
}
