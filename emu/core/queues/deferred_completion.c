/* SPDX-License-Identifier: BSD-2-Clause */
/* Defers rsockets' disconnect signals until the program has handled what came before. */
#include "deferred_completion.h"

#include "cq.h"
#include "emu/core/base/base.h"
#include "queue_users.h"
#include "wire/bytes.h"

#include <string.h>

#define LOOK_MIN_NS (5 * 1000ull)
#define LOOK_MAX_NS (1000 * 1000ull)

/* Immediate data of rsockets: three bits of operation (7: control) and 29 of what it is about. */
#define RSOCKET_DISCONNECT 0xe0000000u
#define RSOCKET_SHUTDOWN   0xe0000002u

static bool is_signal(const struct cq *cq, const struct uhca_abi_cqe *e)
{
	const struct device *dev = cq->obj.client->dev;
	uint32_t imm = roce_load_be32((const uint8_t *)&e->imm);

	return e->opcode == UHCA_ABI_WC_RECV_RDMA_WITH_IMM && e->byte_len == 0 &&
	       e->status == UHCA_ABI_WC_SUCCESS &&
	       (imm == RSOCKET_DISCONNECT || imm == RSOCKET_SHUTDOWN) &&
	       dev->queue_users->is_like_rsocket(dev, e->qpn);
}

/* Who armed the CQ is told, even where it has not handled what it had. */
static bool is_handled(const struct cq *cq, uint32_t payloads)
{
	const struct uhca_abi_cq *page = cq->page;

	if (!uhca_ring_observe(&page->ring.reports_handled) || uhca_ring_observe(&page->arm))
		return true;
	return (int32_t)(uhca_ring_observe(&page->ring.handled) - payloads) >= 0;
}

static void look_later(struct cq *cq, uint64_t now)
{
	struct deferred_completion *h = &cq->deferred;

	timer_set(&cq->obj.client->dev->cq_timers, &h->timer,
		  timer_next_look(h->since, now, LOOK_MIN_NS, LOOK_MAX_NS));
}

/* The wait ends: of a client's index and counts nothing but this is believed. */
static bool is_overdue(struct cq *cq, uint64_t now)
{
	struct deferred_completion *h = &cq->deferred;

	if (!h->all_taken) {
		uint32_t consumer = uhca_ring_observe(&cq->page->ring.consumer);

		if ((int32_t)(consumer - h->before) >= 0)
			h->all_taken = now;
	}
	return now - h->since >= DEFERRED_COMPLETION_UNREAD_NS ||
	       (h->all_taken && now - h->all_taken >= DEFERRED_COMPLETION_NS);
}

static void enter_first(struct cq *cq)
{
	struct deferred_completion *h = &cq->deferred;
	struct uhca_abi_cqe e = h->cqe[0];

	h->n--;
	memmove(&h->cqe[0], &h->cqe[1], h->n * sizeof(h->cqe[0]));
	cq_enter(cq, &e);
}

void deferred_completion_release(struct cq *cq)
{
	while (cq->deferred.n)
		enter_first(cq);
	timer_cancel(&cq->obj.client->dev->cq_timers, &cq->deferred.timer);
}

static void look(struct timer *t, uint64_t now);

/* The first in line waits for what is in the ring now. */
static void begin(struct cq *cq, uint64_t now)
{
	struct deferred_completion *h = &cq->deferred;

	h->waits_for = h->payloads;
	h->before = cq->producer;
	h->since = now;
	h->all_taken = 0;
	h->timer.fire = look;
	look_later(cq, now);
}

/* The signal enters, and what is behind it up to the next one that has to wait. */
static void move_up(struct cq *cq, uint64_t now)
{
	do {
		enter_first(cq);
	} while (cq->deferred.n &&
		 (!is_signal(cq, &cq->deferred.cqe[0]) || is_handled(cq, cq->deferred.payloads)));
	if (cq->deferred.n)
		begin(cq, now);
}

static void look(struct timer *t, uint64_t now)
{
	struct cq *cq = list_entry(t, struct cq, deferred.timer);

	if (is_handled(cq, cq->deferred.waits_for))
		move_up(cq, now);
	else if (is_overdue(cq, now))
		deferred_completion_release(cq);
	else
		look_later(cq, now);
}

bool deferred_completion_has(const struct cq *cq, uint32_t qpn)
{
	for (uint32_t i = 0; i < cq->deferred.n; i++)
		if (cq->deferred.cqe[i].qpn == qpn)
			return true;
	return false;
}

bool deferred_completion_take(struct cq *cq, const struct uhca_abi_cqe *e)
{
	struct deferred_completion *h = &cq->deferred;

	if (!uhca_cqe_is_receive(e) || cq->ignore_overrun || cq->obj.client->dev->cfg.strict_order)
		return false;
	if (!deferred_completion_has(cq, e->qpn) &&
	    (!is_signal(cq, e) || is_handled(cq, h->payloads)))
		return false;
	/* Of a QP that is in trouble nothing is kept; and they may be many. */
	if (e->status != UHCA_ABI_WC_SUCCESS || h->n == DEFERRED_COMPLETION_MAX) {
		deferred_completion_release(cq);
		return false;
	}
	h->cqe[h->n++] = *e;
	if (h->n == 1)
		begin(cq, cq->obj.client->dev->now);
	return true;
}
