/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of a QP: attached by operation (ibv_qp_attach_comp_cntr(3)), until its end. */
#include "emu/core/queues/queues.h"
#include "qp.h"
#include "qp_share.h"
#include "qp_state.h"

#include <errno.h>

/*
 * A QP that several clients share outlives the counter of one; frames of raw packet queues are
 * none of the operations.
 */
static bool may_count(const struct qp *qp)
{
	return qp->type != QPT_XRC_RECV && qp->type != QPT_RAW_PACKET;
}

static int check(const struct qp *qp, uint32_t op_mask)
{
	const uint32_t known = (1u << UHCA_ABI_COMP_OPS) - 1;

	if (!may_count(qp))
		return device_refuse(qp->dev, -EOPNOTSUPP, "a QP of type %s cannot count",
				     qp_type_name(qp->type));
	if (op_mask & ~known)
		return device_refuse(qp->dev, -EOPNOTSUPP, "op_mask 0x%x has bits beyond 0x%x",
				     op_mask, known);
	if (!op_mask)
		return device_refuse(qp->dev, -EINVAL, "op_mask is 0");
	if (qp->state != QPS_RESET && qp->state != QPS_INIT)
		return device_refuse(qp->dev, -EINVAL, "the QP is in %s, not in RESET or INIT",
				     qp_state_name(qp->state));
	for (unsigned op = 0; op < UHCA_ABI_COMP_OPS; op++)
		if (op_mask & 1u << op && qp->counter[op])
			return device_refuse(qp->dev, -EBUSY,
					     "op_mask 0x%x: bit 0x%x has a counter already",
					     op_mask, 1u << op);
	return 0;
}

int core_attach_comp_cntr(struct client *c, const struct uhca_cmd_attach_comp_cntr *in)
{
	struct comp_cntr *cntr;
	struct qp *qp;
	int err = qp_find(c, in->qp, &qp);

	if (!err)
		err = client_find(c, &c->dev->comp_cntrs, in->comp_cntr, &cntr);
	if (!err)
		err = check(qp, in->op_mask);
	if (err)
		return err;
	for (unsigned op = 0; op < UHCA_ABI_COMP_OPS; op++)
		if (in->op_mask & 1u << op) {
			qp->counter[op] = cntr;
			cntr->obj.refs++;
		}
	qp->counts = true;
	return 0;
}

void qp_drop_counters(struct qp *qp)
{
	for (unsigned op = 0; op < UHCA_ABI_COMP_OPS; op++)
		if (qp->counter[op])
			qp->counter[op]->obj.refs--;
}
