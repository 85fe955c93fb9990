/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two ways of a frame: from a send request to core_frame_next, and from core_rx_frame (flow.c)
 * to a receive request. A request completes when its frame has been taken; nobody answers.
 */
#include "raw.h"
#include "emu/core/queues/queues.h"
#include "emu/core/receive/receive.h"
#include "emu/core/send/send.h"

#include <string.h>

static uint8_t gather(struct qp *qp, const struct send_wr *w, uint8_t *buf, size_t cap)
{
	struct sgl l = requester_sgl(qp, w);

	if (w->length < ROCE_FRAME_MIN || w->length > ROCE_FRAME_MAX || w->length > cap)
		return UHCA_ABI_WC_LOC_LEN_ERR;
	if (w->wqe.flags & (UHCA_ABI_SEND_INLINE | UHCA_ABI_SEND_GATHERED))
		memcpy(buf, send_data(&qp->req.sq, w->index), w->length);
	else if (sgl_read(&l, 0, w->length, buf))
		return UHCA_ABI_WC_LOC_PROT_ERR;
	return UHCA_ABI_WC_SUCCESS;
}

bool raw_transmit(struct qp *qp, uint8_t *buf, size_t cap, struct core_frame *out)
{
	struct send_wr *w = NULL;
	struct sgl l;

	if (qp->state != QPS_RTS || !qp->req.sq.entries || !send_rate_allows(qp))
		return false;
	switch (requester_fetch(qp, &w, &l)) {
	case FETCH_OK:
		break;
	case FETCH_EMPTY:
		return false;
	case FETCH_BROKEN:
		qp_fail(qp, UHCA_ABI_EVENT_QP_FATAL);
		return false;
	}
	if (!w)
		return false;
	if (!w->status)
		w->status = gather(qp, w, buf, cap);
	if (w->status) {
		completer_local_error(qp, w);
		return false;
	}
	*out = (struct core_frame){buf, w->length};
	if (qp->req.rate.kbps)
		send_rate_count(qp, w->length, 0);
	completer_sent(qp);
	return true;
}

bool core_frame_next(struct device *dev, uint64_t now, uint8_t *buf, size_t cap,
		     struct core_frame *out)
{
	device_set_time(dev, now);
	while (!list_empty(&dev->raw_ready)) {
		struct qp *qp = list_entry(dev->raw_ready.next, struct qp, tx_link);
		list_remove(&qp->tx_link);
		if (!raw_transmit(qp, buf, cap, out))
			continue;
		qp_kick(qp);
		dev->counters.tx_packets++;
		dev->counters.tx_bytes += out->length;
		return true;
	}
	return false;
}

void raw_receive(struct qp *qp, const struct core_frame *frame, const struct roce_frame *f,
		 uint32_t tag)
{
	struct iovec iov = {(void *)(uintptr_t)frame->bytes, frame->length};
	struct uhca_abi_cqe e = {
		.opcode = UHCA_ABI_WC_RECV, .byte_len = frame->length, .wqe_index = tag};

	if (qp->rss) {
		rss_receive(qp->rss, frame, f, tag);
		return;
	}
	if (!qp_receives(qp)) {
		device_drop_one(qp->dev, qp->qpn, 0, CORE_DROP_STATE);
		return;
	}
	if (!receive_take(qp)) {
		device_drop_one(qp->dev, qp->qpn, 0, CORE_DROP_NO_RECV);
		return;
	}
	if (frame->length > receive_capacity(qp))
		e.status = UHCA_ABI_WC_LOC_LEN_ERR;
	else if (receive_place(qp, 0, &iov, 1))
		e.status = UHCA_ABI_WC_LOC_PROT_ERR;
	receive_complete(qp, &e);
	if (e.status)
		qp_fail(qp, UINT32_MAX);
}
