/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disconnect waits for its reader. Between the last message and the news that its sender has gone
 * lie two kernels' connection management with hardware; here some microseconds, and a program that
 * loses its processor between a look at its completions (none) and one at its events finds both.
 * libfabric's ofi_rxm destroys its queue pair then, and the message with it. So the program sees
 * the disconnect when it has taken what was in the completion queues of its QP by then, or
 * sleeps, or has not looked for CM_READER_PAGE_WORKER. The owner knows at once: it keeps the place
 * of the event among others, so that nothing overtakes it. Nothing orders completions and events in
 * the specification: with strict_order nobody waits, and nobody whose QP is in trouble, which may
 * have completions that nobody wants. What the CQ holds back (deferred_completion.h) is waited for
 * without this bound: it has its own.
 */
#include "cm.h"

#include "emu/core/base/base.h"
#include "emu/core/qp/queue_pair.h"

#define LOOK_MIN_NS (50 * 1000ull)
#define LOOK_MAX_NS (1000 * 1000ull)

static const struct qp *its_qp(const struct cm *cm)
{
	return device_find_qp(cm->dev, cm->local_qpn);
}

static bool has_unread(const struct cm *cm, const struct qp *qp, uint64_t now)
{
	if (cm->dev->cfg.strict_order || now - cm->unread.since >= CM_READER_PAGE_WORKER)
		return false;
	if (qp->state != QPS_RTR && qp->state != QPS_RTS)
		return false;
	return (qp->recv_cq && !cq_is_read(qp->recv_cq, cm->unread.recv)) ||
	       (qp->send_cq && !cq_is_read(qp->send_cq, cm->unread.send));
}

static bool must_wait(const struct cm *cm, uint64_t now)
{
	const struct qp *qp = its_qp(cm);

	return qp && ((qp->recv_cq && deferred_completion_has(qp->recv_cq, qp->qpn)) ||
		      has_unread(cm, qp, now));
}

static void look_later(struct cm *cm, uint64_t now)
{
	cm_wait(cm, now, timer_next_look(cm->unread.since, now, LOOK_MIN_NS, LOOK_MAX_NS) - now);
}

void cm_release(struct cm *cm)
{
	if (!cm->held)
		return;
	cm->held = false;
	cm_stop(cm);
	cm_raise_event(cm, CORE_CM_RELEASED, 0);
}

void cm_reader_look(struct cm *cm, uint64_t now)
{
	if (must_wait(cm, now))
		look_later(cm, now);
	else
		cm_release(cm);
}

void cm_disconnected(struct cm *cm, uint64_t now)
{
	const struct qp *qp = its_qp(cm);

	cm_stop(cm);
	cm->state = CM_DREQ_RCVD;
	cm->unread.since = now;
	cm->unread.recv = qp && qp->recv_cq ? qp->recv_cq->producer : 0;
	cm->unread.send = qp && qp->send_cq ? qp->send_cq->producer : 0;
	cm->held = must_wait(cm, now);
	if (cm->held)
		look_later(cm, now);
	cm_event(cm, &(struct core_cm_event){.type = CORE_CM_DISCONNECTED, .held = cm->held});
}
