/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way out: what has something to send stands on a ready list (qp_kick); core_tx_next serves
 * each list round robin by burst, answers before requests. Of bursts of one packet a quantum has
 * SHORT_RUN: those of one QP have one source port, and leave in one call where they follow each
 * other.
 *
 * The list of low-latency QPs goes before all else. What such a queue can hold back is bounded,
 * because it is shallow and its requests are inline; yet there may be many of them, and they may
 * be asked for long READs. So after URGENT_RUN packets of theirs in a row one burst of the others
 * goes, whatever waits. Among themselves they take turns burst by burst.
 */
#include "emu/core/cm/management.h"
#include "emu/core/congestion/congestion.h"
#include "emu/core/contract/late.h"
#include "emu/core/qp/queue_pair.h"
#include "emu/core/receive/receive.h"
#include "emu/core/send/send.h"
#include "orphan_ack.h"

#define URGENT_RUN 16

/* Together they are no longer than a long burst. */
#define SHORT_RUN 16

/* What a QP owes in ERR is at most the NAK that announced it. */
static bool answers(const struct qp *qp)
{
	switch (qp->state) {
	case QPS_RTR:
	case QPS_RTS:
	case QPS_SQD:
	case QPS_SQE:
	case QPS_ERR:
		return qp->type == QPT_RC || qp->type == QPT_XRC_RECV;
	case QPS_RESET:
	case QPS_INIT:
	case QPS_COUNT:
		break;
	}
	return false;
}

static bool transmit(struct qp *qp, uint8_t *buf, size_t cap, struct core_burst *out)
{
	bool behind = answer_waits(qp) || answer_stands_back(qp);

	if (qp->congestion && congestion_transmit(qp, out))
		return true;
	if (answers(qp) && !behind && responder_transmit(qp, buf, cap, out))
		return true;
	if (!requester_transmit(qp, buf, cap, out))
		return behind && answers(qp) && !answer_waits(qp) &&
		       responder_transmit(qp, buf, cap, out);
	if (behind)
		answer_follow(qp);
	return true;
}

static bool ends_quantum(struct qp *qp, const struct core_burst *sent)
{
	return qp_is_urgent(qp) || sent->count > 1 || ++qp->short_run >= SHORT_RUN;
}

/* After a burst of its own: to the front of its list within its quantum, or behind the others. */
static void line_up(struct qp *qp, const struct core_burst *sent)
{
	struct list *ready = qp_ready_list(qp);

	list_remove(&qp->tx_link);
	if (ends_quantum(qp, sent))
		qp->short_run = 0;
	else
		ready = ready->next;
	list_append(ready, &qp->tx_link);
}

static void note_sent(struct qp *qp, struct core_burst *t)
{
	t->model.qpn = qp->qpn;
	qp->counters.tx_packets += t->count;
	qp->counters.tx_bytes += t->length;
	device_trace(qp->dev, CORE_TRACE_TX, qp->qpn, t->head.bth.psn, t->count);
}

/* What a QP of a ready list has to send; one that has nothing leaves the list. */
static bool serve(struct qp *qp, uint8_t *buf, size_t cap, struct core_burst *out)
{
	list_remove(&qp->tx_link);
	if (!transmit(qp, buf, cap, out)) {
		qp->short_run = 0;
		return false;
	}
	line_up(qp, out);
	note_sent(qp, out);
	return true;
}

static bool next_of(struct list *ready, uint8_t *buf, size_t cap, struct core_burst *out)
{
	while (!list_empty(ready))
		if (serve(list_entry(ready->next, struct qp, tx_link), buf, cap, out))
			return true;
	return false;
}

static struct qp *first_of(const struct list *ready, const struct client *c)
{
	for (const struct list *l = ready->next; l != ready; l = l->next) {
		struct qp *qp = list_entry(l, struct qp, tx_link);

		if (qp->obj.client == c)
			return qp;
	}
	return NULL;
}

static bool next_of_client(const struct list *ready, const struct client *c, uint8_t *buf,
			   size_t cap, struct core_burst *out)
{
	struct qp *qp;

	while ((qp = first_of(ready, c)))
		if (serve(qp, buf, cap, out))
			return true;
	return false;
}

static bool next_urgent(struct device *dev, uint8_t *buf, size_t cap, struct core_burst *out)
{
	if (!next_of(&dev->tx_urgent, buf, cap, out))
		return false;
	dev->urgent_run += out->count;
	out->urgent = true;
	return true;
}

static bool next_burst(struct device *dev, uint8_t *buf, size_t cap, struct core_burst *out)
{
	bool others_first = dev->urgent_run >= URGENT_RUN;

	if (!others_first && next_urgent(dev, buf, cap, out))
		return true;
	dev->urgent_run = 0;
	out->urgent = false;
	if (orphan_ack_next(dev->orphan_ack, out)) {
		out->head.bth.pkey = dev->cfg.look.port[0].pkey[0];
		return true;
	}
	if (gsi_transmit(dev->gsi, out) || next_of(&dev->tx_ready, buf, cap, out))
		return true;
	return others_first && next_urgent(dev, buf, cap, out);
}

/* False when the port does not send it: nobody ever gets it. */
static bool goes_out(struct device *dev, struct core_burst *out)
{
	if (dev->port_checks && port_refuses(dev, out, out->flow.src)) {
		out->model = (struct core_burst_model){0};
		return false;
	}
	dev->counters.tx_packets += out->count;
	dev->counters.tx_bytes += out->length;
	return true;
}

bool core_tx_next(struct device *dev, uint64_t now, uint8_t *buf, size_t cap,
		  struct core_burst *out)
{
	device_set_time(dev, now);
	out->model = (struct core_burst_model){0};
	while (next_burst(dev, buf, cap, out))
		if (goes_out(dev, out))
			return true;
	return false;
}

bool core_tx_next_of(struct client *c, uint64_t now, uint8_t *buf, size_t cap,
		     struct core_burst *out)
{
	struct device *dev = c->dev;
	uint64_t pause;
	bool found;

	device_set_time(dev, now);
	pause = send_pace_lift(c);
	out->model = (struct core_burst_model){0};
	out->urgent = false;
	do
		found = next_of_client(&dev->tx_urgent, c, buf, cap, out) ||
			next_of_client(&dev->tx_ready, c, buf, cap, out);
	while (found && !goes_out(dev, out));
	send_pace_set(dev, pause);
	return found;
}

/* ---- answers alone ---- */

static uint32_t length(const struct list *ready)
{
	uint32_t n = 0;

	for (const struct list *l = ready->next; l != ready; l = l->next)
		n++;
	return n;
}

void core_round_begin(struct device *dev, struct core_round *r)
{
	core_hurry(dev);
	*r = (struct core_round){length(&dev->tx_urgent), length(&dev->tx_ready)};
}

static void put_behind(struct list *ready, struct qp *qp, uint32_t *left)
{
	list_remove(&qp->tx_link);
	list_append(ready, &qp->tx_link);
	--*left;
}

/* The round goes over the whole list: afterwards all stand as they did before. */
static bool next_answer(struct list *ready, uint32_t *left, uint8_t *buf, size_t cap,
			struct core_burst *out)
{
	while (*left > 0 && !list_empty(ready)) {
		struct qp *qp = list_entry(ready->next, struct qp, tx_link);
		bool sent =
			answers(qp) && !answer_waits(qp) && responder_transmit(qp, buf, cap, out);

		if (!sent || out->count > 1)
			put_behind(ready, qp, left);
		if (sent) {
			note_sent(qp, out);
			return true;
		}
	}
	return false;
}

bool core_tx_answer(struct device *dev, uint64_t now, struct core_round *r, uint8_t *buf,
		    size_t cap, struct core_burst *out)
{
	device_set_time(dev, now);
	out->model = (struct core_burst_model){0};
	out->urgent = false;
	while (orphan_ack_next(dev->orphan_ack, out) || gsi_transmit(dev->gsi, out) ||
	       next_answer(&dev->tx_urgent, &r->urgent, buf, cap, out) ||
	       next_answer(&dev->tx_ready, &r->ready, buf, cap, out))
		if (goes_out(dev, out))
			return true;
	return false;
}

bool core_hurry(struct device *dev)
{
	make_visible(dev, BEFORE_SLEEP, NULL);
	return answer_wake(dev, dev->cfg.lazy_acks ? dev->now : UINT64_MAX);
}
