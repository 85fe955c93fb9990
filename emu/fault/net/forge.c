/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds ACKs, NAKs and CNPs in the name of the peer. */
#include "forge.h"

#include "wire/mad.h"

#include <string.h>

#define DEFAULT_PKEY 0xffffu

static bool is_reliable(const struct roce_opcode_info *info)
{
	return info->service == ROCE_SVC_RC || info->service == ROCE_SVC_XRC;
}

static bool is_response(enum roce_operation op)
{
	return op == ROCE_OP_READ_RESP || op == ROCE_OP_ACK || op == ROCE_OP_ATOMIC_ACK;
}

bool fault_is_request(const struct fault_packet *p)
{
	const struct roce_opcode_info *info = roce_opcode_info(p->pkt.bth.opcode);

	return info->name && is_reliable(info) && !is_response(info->operation);
}

bool fault_is_message(const struct fault_packet *p)
{
	enum roce_operation op = roce_opcode_info(p->pkt.bth.opcode)->operation;

	return fault_is_request(p) && (op == ROCE_OP_SEND || op == ROCE_OP_WRITE);
}

/* The UDP source port of a connection is the same both ways: it follows from both QP numbers. */
static void reverse(const struct roce_flow *from, struct roce_flow *to)
{
	*to = *from;
	memcpy(to->src, from->dst, sizeof(to->src));
	memcpy(to->dst, from->src, sizeof(to->dst));
	roce_flow_set_ecn(to, ROCE_NOT_ECT);
}

void fault_answer_begin(const struct fault_packet *p, struct fault_packet *out)
{
	memset(&out->pkt, 0, sizeof(out->pkt));
	reverse(&p->flow, &out->flow);
	out->model = (struct core_burst_model){.rule = p->model.rule};
	out->dir = p->dir == FAULT_TX ? FAULT_RX : FAULT_TX;
	out->from_network = false;
	out->urgent = p->urgent;
	out->pkt.bth.migreq = true;
	out->pkt.bth.pkey = DEFAULT_PKEY;
}

bool fault_answer(const struct fault_packet *request, uint32_t requester, uint8_t syndrome,
		  const struct fault_responder *who, struct fault_packet *out)
{
	enum roce_service service = roce_opcode_info(request->pkt.bth.opcode)->service;

	if (!fault_is_request(request))
		return false;
	fault_answer_begin(request, out);
	if (!roce_opcode_find(service, ROCE_OP_ACK, ROCE_POS_ONLY, false, false,
			      &out->pkt.bth.opcode))
		return false;
	out->pkt.bth.dest_qp = requester;
	out->pkt.bth.psn = request->pkt.bth.psn;
	out->pkt.aeth = (struct roce_aeth){syndrome, who->msn};
	out->model.qpn = request->pkt.bth.dest_qp;
	return true;
}

bool fault_answer_cnp(const struct fault_packet *p, uint32_t sender, struct fault_packet *out)
{
	enum roce_operation op = roce_opcode_info(p->pkt.bth.opcode)->operation;

	if (op == ROCE_OP_CNP || p->pkt.bth.dest_qp == ROCE_GSI_QPN ||
	    roce_addr_is_group(p->flow.dst))
		return false;
	fault_answer_begin(p, out);
	out->flow.tclass = ROCE_CNP_DSCP << 2;
	roce_packet_cnp(&out->pkt, sender, DEFAULT_PKEY);
	memset(out->text, 0, ROCE_CNP_RESERVED);
	out->pkt.payload = out->text;
	out->pkt.payload_len = ROCE_CNP_RESERVED;
	out->model.qpn = p->pkt.bth.dest_qp;
	return true;
}
