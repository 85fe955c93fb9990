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

static void complete(struct qp *qp, const struct core_train *t, struct uhca_abi_cqe *e)
{
	e->opcode = UHCA_ABI_WC_RECV;
	e->src_qp = t->head.deth.src_qp;
	e->flags |= UHCA_ABI_WC_GRH;
	e->sl = roce_flow_is_v4(&t->flow) ? PACKET_IPV4 : PACKET_IPV6;
	if (roce_opcode_info(t->head.bth.opcode)->headers & ROCE_HDR_IMMDT) {
		uint8_t *p = (uint8_t *)&e->imm;
		p[0] = (uint8_t)(t->head.immdt >> 24);
		p[1] = (uint8_t)(t->head.immdt >> 16);
		p[2] = (uint8_t)(t->head.immdt >> 8);
		p[3] = (uint8_t)t->head.immdt;
		e->flags |= UHCA_ABI_WC_WITH_IMM;
	}
	if (t->last_solicited)
		e->flags |= UHCA_ABI_WC_SOLICITED;
	receive_complete(qp, e);
}

/* UDP payload length of the packet, which the GRH's IP header reports. */
static size_t wire_length(const struct core_train *t)
{
	return roce_header_length(t->head.bth.opcode) + t->length + roce_pad(t->length) +
	       ROCE_ICRC_LENGTH;
}

void responder_receive_ud(struct qp *qp, const struct core_train *t)
{
	uint8_t grh[ROCE_GRH_LENGTH];
	struct iovec iov[CORE_TRAIN_IOV + 1] = {{grh, sizeof grh}};
	struct uhca_abi_cqe e = {.byte_len = ROCE_GRH_LENGTH + t->length};
	enum receive_fit fit;
	int err;

	if (t->head.deth.qkey != qp->attr.qkey) {
		device_drop(qp->dev, qp->qpn, t->head.bth.psn, CORE_DROP_QKEY);
		return;
	}
	if (t->length > qp->mtu) {
		device_drop(qp->dev, qp->qpn, t->head.bth.psn, CORE_DROP_LENGTH);
		return;
	}
	fit = receive_take_fitting(qp, e.byte_len);
	if (fit != RECEIVE_TAKEN) {
		device_drop(qp->dev, qp->qpn, t->head.bth.psn,
			    fit == RECEIVE_NONE ? CORE_DROP_NO_RECV : CORE_DROP_LENGTH);
		return;
	}
	roce_grh_emit(&t->flow, wire_length(t), grh);
	memcpy(&iov[1], t->iov, t->n_iov * sizeof iov[0]);
	err = receive_offer(qp, iov, t->n_iov + 1, &e) ? 0
						       : receive_place(qp, 0, iov, t->n_iov + 1);
	if (err == -ESRCH) { /* the receive waits on */
		device_drop(qp->dev, qp->qpn, t->head.bth.psn, CORE_DROP_NO_RECV);
		return;
	}
	if (err)
		e.status = UHCA_ABI_WC_LOC_PROT_ERR;
	complete(qp, t, &e);
	if (e.status)
		qp_fail(qp, UINT32_MAX);
}
