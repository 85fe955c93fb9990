/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagrams (IBTA vol. 1, 9.8.3): Q_Key, length, one receive per packet with 40 bytes of GRH in
 * front. What does not fit its rules is dropped and counted; nobody is told, and no receive is used
 * (9.9.3, class D): that a packet is longer than the receive is its sender's doing, and must not
 * end a QP that anybody may send to.
 */
#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"
#include "receive_wr.h"
#include "responder.h"
#include "wire/grh.h"

#include <errno.h>
#include <string.h>

/*
 * RoCEv2 (annex 17, A17.4.5.1) lets the completion of a datagram say what kind of packet it was.
 * Verbs has no field for it; adapters report it in the service level, which a RoCE packet has not,
 * and UCX takes packets for misdirected when it is not there: bit 3 for UDP, below it the network
 * header.
 */
enum {
	PACKET_IPV6 = 8 | 1,
	PACKET_IPV4 = 8 | 2,
};

/* An InfiniBand port: no GRH, except in a group. */
static bool came_by_lid(const struct qp *qp, const struct core_burst *t)
{
	return qp->dev->cfg.look.port[qp->attr.port_num > 1].link_layer == CORE_LINK_INFINIBAND &&
	       !roce_addr_is_group(t->flow.dst);
}

static void complete(struct qp *qp, const struct core_burst *t, struct uhca_abi_cqe *e)
{
	e->opcode = UHCA_ABI_WC_RECV;
	e->src_qp = t->head.deth.src_qp;
	if (came_by_lid(qp, t)) {
		e->slid = (uint16_t)core_lid_of(t->flow.src);
	} else {
		e->flags |= UHCA_ABI_WC_GRH;
		e->sl = roce_flow_is_v4(&t->flow) ? PACKET_IPV4 : PACKET_IPV6;
	}
	e->pkey_index = qp->attr.pkey_index;
	receive_complete_last(qp, t, roce_opcode_info(t->head.bth.opcode), e);
}

/* UDP payload length of the packet, which the GRH's IP header reports. */
static size_t wire_length(const struct core_burst *t)
{
	return roce_header_length(t->head.bth.opcode) + t->length + roce_pad(t->length) +
	       ROCE_ICRC_LENGTH;
}

static void refuse(struct qp *qp, const struct core_burst *t, enum core_drop why,
		   struct uhca_abi_cause cause)
{
	device_because(qp->dev, &cause);
	device_drop(qp->dev, qp->qpn, t, why);
}

/* No receive request is posted, or the next one is too short with the GRH in front. */
static void no_place(struct qp *qp, const struct core_burst *t, enum receive_fit fit)
{
	if (fit == RECEIVE_NONE)
		refuse(qp, t, CORE_DROP_NO_RECV, CAUSE(NO_RECEIVE, .got = t->head.bth.psn));
	else
		refuse(qp, t, CORE_DROP_LENGTH,
		       CAUSE(RECEIVE_SHORT, .expected = receive_capacity(qp),
			     .got = ROCE_GRH_LENGTH + t->length));
}

/*
 * What stands for the GRH. An IPv4 header is in its second half, and nothing says what is in the
 * first (annex A17, A17.4.5.2).
 */
static void emit_grh(struct qp *qp, const struct core_burst *t, uint8_t grh[ROCE_GRH_LENGTH])
{
	bool is_ipv4;

	roce_grh_emit(&t->flow, wire_length(t), grh);
	is_ipv4 = grh[0] >> 4 != 6;
	for (unsigned i = 0; qp->dev->cfg.any_grh && is_ipv4 && i < ROCE_GRH_LENGTH / 2; i++)
		grh[i] = (uint8_t)chance_next(&qp->dev->chance);
}

void responder_receive_ud(struct qp *qp, const struct core_burst *t)
{
	uint8_t grh[ROCE_GRH_LENGTH];
	struct iovec iov[CORE_BURST_IOV + 1] = {{grh, sizeof grh}};
	struct uhca_abi_cqe e = {.byte_len = ROCE_GRH_LENGTH + t->length};
	enum receive_fit fit;
	int err;

	if (t->head.deth.qkey != qp->attr.qkey) {
		refuse(qp, t, CORE_DROP_QKEY,
		       CAUSE(QKEY, .expected = qp->attr.qkey, .got = t->head.deth.qkey));
		return;
	}
	if (t->length > qp->mtu) {
		refuse(qp, t, CORE_DROP_LENGTH,
		       CAUSE(PACKET_LENGTH, .expected = qp->mtu, .got = t->length));
		return;
	}
	fit = receive_take_fitting(qp, e.byte_len);
	if (fit != RECEIVE_TAKEN) {
		no_place(qp, t, fit);
		return;
	}
	emit_grh(qp, t, grh);
	memcpy(&iov[1], t->iov, t->n_iov * sizeof iov[0]);
	err = receive_copy_on_poll(qp, iov, t->n_iov + 1, &e)
		      ? 0
		      : receive_place(qp, 0, iov, t->n_iov + 1);
	if (err == -ESRCH) { /* the receive waits on */
		device_drop(qp->dev, qp->qpn, t, CORE_DROP_NO_RECV);
		return;
	}
	if (err) {
		const struct uhca_abi_cause c = receive_cause(qp);

		device_because(qp->dev, &c);
		e.status = UHCA_ABI_WC_LOC_PROT_ERR;
	}
	complete(qp, t, &e);
	if (e.status) {
		device_judged(qp->dev, qp->qpn, t, CORE_JUDGED_FAILED);
		qp_fail(qp, UINT32_MAX);
	}
}
