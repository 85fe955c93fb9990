/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds ACKs, NAKs and CNPs in the name of the peer. */
#include "forge.h"

#include "wire/mad.h"

#include <string.h>

#define CNP_LENGTH   16u
#define ECN_MASK     3u
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
	to->tclass &= (uint8_t)~ECN_MASK;
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

/* BTH with BECN and nothing to acknowledge, then 16 reserved bytes of zero. */
bool fault_answer_cnp(const struct fault_packet *p, uint32_t sender, struct fault_packet *out)
{
	enum roce_operation op = roce_opcode_info(p->pkt.bth.opcode)->operation;

	if (op == ROCE_OP_CNP || p->pkt.bth.dest_qp == ROCE_GSI_QPN || p->flow.dst[0] == 0xff ||
	    (roce_addr_is_v4(p->flow.dst) && (p->flow.dst[12] & 0xf0) == 0xe0))
		return false;
	fault_answer_begin(p, out);
	out->pkt.bth.opcode.v = ROCE_CNP;
	out->pkt.bth.dest_qp = sender;
	out->pkt.bth.becn = true;
	memset(out->text, 0, CNP_LENGTH);
	out->pkt.payload = out->text;
	out->pkt.payload_len = CNP_LENGTH;
	out->model.qpn = p->pkt.bth.dest_qp;
	return true;
}
