/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ece.h. The device need not know: it answers what it knows, and does not ask who sends. What
 * the peer lacks is kept as opcodes, where posting looks.
 */
#include "ece.h"

#include "provider/base/base.h"
#include "provider/context/context.h"
#include "queue_pair.h"

#include <errno.h>

#define MASKED ((1u << UHCA_ABI_WR_MASKED_CMP_SWP) | (1u << UHCA_ABI_WR_MASKED_FETCH_ADD))

/* Masked atomics are for RC alone (dv_wqe.c). */
static int own_options(const struct uhcav_qp *qp, uint32_t *options)
{
	uint32_t features;
	int err = -uhcav_device_features(qp->ctx, &features);

	*options = !err && qp->qp.qp_type == IBV_QPT_RC && (features & UHCA_ABI_HAS_MASKED_ATOMICS)
			   ? UHCAV_ECE_MASKED_ATOMICS
			   : 0;
	return err;
}

int uhcav_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	const struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	uint32_t options;
	int err = own_options(qp, &options);

	if (err)
		return uhcav_failed(err);
	if (__atomic_load_n(&qp->peer_lacks, __ATOMIC_RELAXED) & MASKED)
		options &= ~(uint32_t)UHCAV_ECE_MASKED_ATOMICS;
	*ece = (struct ibv_ece){.vendor_id = UHCAV_ECE_VENDOR, .options = options};
	return 0;
}

int uhcav_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	bool masked =
		ece->vendor_id == UHCAV_ECE_VENDOR && (ece->options & UHCAV_ECE_MASKED_ATOMICS);

	if (ece->comp_mask)
		return uhcav_failed(uhcav_refuse(qp->ctx, "set_ece", EINVAL,
						 "comp_mask 0x%x has unknown bits",
						 ece->comp_mask));
	__atomic_store_n(&qp->peer_lacks, masked ? 0 : MASKED, __ATOMIC_RELAXED);
	return uhcav_query_ece(ibqp, ece);
}
