/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See inject.h. Only the door: each finds its object and calls what the device itself calls when
 * it finds such a fault.
 */
#include "emu/core/contract/inject.h"
#include "emu/core/base/base.h"
#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"
#include "emu/core/queues/queues.h"

#include <errno.h>

/* Whose event it is (IBTA vol. 1, 11.6.3). */
enum affiliation { OF_QP, OF_CQ, OF_SRQ, OF_WQ, OF_PORT, OF_DEVICE };

static const enum affiliation affiliation[] = {
	[UHCA_ABI_EVENT_CQ_ERR] = OF_CQ,
	[UHCA_ABI_EVENT_QP_FATAL] = OF_QP,
	[UHCA_ABI_EVENT_QP_REQ_ERR] = OF_QP,
	[UHCA_ABI_EVENT_QP_ACCESS_ERR] = OF_QP,
	[UHCA_ABI_EVENT_COMM_EST] = OF_QP,
	[UHCA_ABI_EVENT_SQ_DRAINED] = OF_QP,
	[UHCA_ABI_EVENT_PATH_MIG] = OF_QP,
	[UHCA_ABI_EVENT_PATH_MIG_ERR] = OF_QP,
	[UHCA_ABI_EVENT_DEVICE_FATAL] = OF_DEVICE,
	[UHCA_ABI_EVENT_PORT_ACTIVE] = OF_PORT,
	[UHCA_ABI_EVENT_PORT_ERR] = OF_PORT,
	[UHCA_ABI_EVENT_LID_CHANGE] = OF_PORT,
	[UHCA_ABI_EVENT_PKEY_CHANGE] = OF_PORT,
	[UHCA_ABI_EVENT_SM_CHANGE] = OF_PORT,
	[UHCA_ABI_EVENT_SRQ_ERR] = OF_SRQ,
	[UHCA_ABI_EVENT_SRQ_LIMIT_REACHED] = OF_SRQ,
	[UHCA_ABI_EVENT_QP_LAST_WQE_REACHED] = OF_QP,
	[UHCA_ABI_EVENT_CLIENT_REREGISTER] = OF_PORT,
	[UHCA_ABI_EVENT_GID_CHANGE] = OF_PORT,
	[UHCA_ABI_EVENT_WQ_FATAL] = OF_WQ,
	[UHCA_ABI_EVENT_DEVICE_SPEED_CHANGE] = OF_PORT,
};
#define EVENTS (sizeof(affiliation) / sizeof(affiliation[0]))

bool core_event_of_device(uint32_t type)
{
	return type < EVENTS && (affiliation[type] == OF_PORT || affiliation[type] == OF_DEVICE);
}

int core_inject_event(struct device *dev, uint32_t type, const struct core_event_of *of)
{
	struct qp *qp = device_find_qp(dev, of->qpn);
	struct cq *cq = table_find(&dev->cqs, of->cq);
	struct srq *srq = table_find(&dev->srqs, of->srq);
	struct wq *wq = table_find(&dev->wqs, of->wq);

	if (type >= EVENTS)
		return -EINVAL;
	switch (affiliation[type]) {
	case OF_QP:
		if (qp)
			qp_event(qp, type);
		return qp ? 0 : -ENOENT;
	case OF_CQ:
		if (cq)
			cq_event(cq, type);
		return cq ? 0 : -ENOENT;
	case OF_SRQ:
		if (srq)
			srq_event(srq, type);
		return srq ? 0 : -ENOENT;
	case OF_WQ:
		if (wq)
			wq_event(wq, type);
		return wq ? 0 : -ENOENT;
	case OF_PORT:
	case OF_DEVICE:
		port_raise_event(dev, type);
		return 0;
	}
	return -EINVAL;
}

int core_inject_qp_error(struct device *dev, uint32_t qpn, uint64_t now)
{
	struct qp *qp = device_find_qp(dev, qpn);

	if (!qp)
		return -ENOENT;
	if (qp->state == QPS_RESET)
		return -EINVAL;
	device_set_time(dev, now);
	qp_fail(qp, UHCA_ABI_EVENT_QP_FATAL);
	return 0;
}

int core_inject_cq_overrun(struct device *dev, uint32_t cqn)
{
	struct cq *cq = table_find(&dev->cqs, cqn);

	if (!cq)
		return -ENOENT;
	cq_overrun(cq);
	return 0;
}

/* As for any completion that finds no room (11.6.3.1). */
static void lost(struct device *dev, uint32_t qpn)
{
	struct qp *qp = device_find_qp(dev, qpn);

	if (qp)
		qp_fail(qp, UHCA_ABI_EVENT_QP_FATAL);
}

/* Its completions go with a QP. Work queues have other numbers, of which nobody keeps a list. */
static bool is_gone(struct device *dev, uint32_t qpn)
{
	return qpn < WQ_NUMBER_BASE && !device_find_qp(dev, qpn);
}

int core_inject_completion(struct device *dev, uint32_t cqn, const struct uhca_abi_cqe *e,
			   uint64_t now)
{
	struct cq *cq = table_find(&dev->cqs, cqn);

	if (!cq || is_gone(dev, e->qpn))
		return -ENOENT;
	device_set_time(dev, now);
	if (!cq_put(cq, e))
		lost(dev, e->qpn);
	return 0;
}

int core_inject_revoke(struct device *dev, uint32_t key)
{
	struct object *o = table_find(&dev->mrs, key >> 8);
	struct mr *mr = (void *)o;
	struct mw *mw = (void *)o;

	if (!o || (o->kind == KEY_MW ? mw->key != key : !mr_is_named(mr, key)))
		return -ENOENT;
	if (o->kind == KEY_MW) {
		mw_unbind(mw);
		return 0;
	}
	mr->revoked = true;
	if (mr->obj.refs) {
		mw_unbind_all(mr);
		indirect_orphan(mr);
	}
	return 0;
}

void core_inject_key_reuse(struct device *dev, bool on)
{
	dev->key_reuse = on;
}

void core_inject_key_split(struct device *dev, bool on)
{
	dev->key_split = on;
}

int core_inject_cq_notify(struct device *dev, uint32_t cqn)
{
	struct cq *cq = table_find(&dev->cqs, cqn);

	if (!cq)
		return -ENOENT;
	if (uhca_ring_observe(&cq->page->arm))
		cq_notify(cq);
	return 0;
}
