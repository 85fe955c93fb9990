/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bursts (design D8): from a burst to its packets and back. The grammar of what may follow what
 * is that of one message: FIRST MIDDLE* LAST, all of one operation.
 */
#include "emu/core/contract/verbs.h"
#include "wire/psn.h"

#include <string.h>

static roce_opcode middle_of(roce_opcode op)
{
	const struct roce_opcode_info *info = roce_opcode_info(op);
	roce_opcode middle = op;

	roce_opcode_find(info->service, info->operation, ROCE_POS_MIDDLE, false, false, &middle);
	return middle;
}

void core_burst_packet(const struct core_burst *t, uint32_t i, struct roce_packet *out,
		       uint32_t *offset)
{
	bool last = i + 1 == t->count;

	*out = t->head;
	*offset = i * t->segment;
	out->payload = NULL;
	out->payload_len = last ? t->length - *offset : t->segment;
	out->bth.pad = roce_pad(out->payload_len);
	memset(out->pad_bytes, 0, sizeof out->pad_bytes);
	out->bth.psn = psn_add(t->head.bth.psn, i);
	out->bth.ackreq = last && t->last_ackreq;
	out->bth.solicited = last && t->last_solicited;
	if (last)
		out->bth.opcode = t->last_opcode;
	else if (i > 0)
		out->bth.opcode = middle_of(t->head.bth.opcode);
}

void core_burst_start(struct core_burst *t, const struct roce_packet *pkt,
		      const struct roce_flow *flow)
{
	t->head = *pkt;
	t->flow = *flow;
	t->last_opcode = pkt->bth.opcode;
	t->last_ackreq = pkt->bth.ackreq;
	t->last_solicited = pkt->bth.solicited;
	t->from_network = t->urgent = false;
	t->model = (struct core_burst_model){0};
	t->count = 1;
	t->segment = t->length = pkt->payload_len;
	t->n_iov = 0;
	if (pkt->payload_len) {
		t->iov[0].iov_base = (void *)(uintptr_t)pkt->payload;
		t->iov[0].iov_len = pkt->payload_len;
		t->n_iov = 1;
	}
}

void core_burst_single(const struct core_burst *t, uint32_t i, struct core_burst *out)
{
	struct roce_packet pkt;
	uint32_t offset, left;

	core_burst_packet(t, i, &pkt, &offset);
	left = pkt.payload_len;
	pkt.payload_len = 0;
	core_burst_start(out, &pkt, &t->flow);
	out->segment = out->length = left;
	for (unsigned k = 0; k < t->n_iov && left; k++) {
		size_t len = t->iov[k].iov_len, take;
		if (offset >= len) {
			offset -= (uint32_t)len;
			continue;
		}
		take = len - offset < left ? len - offset : left;
		out->iov[out->n_iov].iov_base = (char *)t->iov[k].iov_base + offset;
		out->iov[out->n_iov++].iov_len = take;
		left -= (uint32_t)take;
		offset = 0;
	}
}

static bool may_follow(roce_opcode last, roce_opcode next)
{
	const struct roce_opcode_info *a = roce_opcode_info(last), *b = roce_opcode_info(next);

	return a->service == b->service && a->operation == b->operation &&
	       (a->position == ROCE_POS_FIRST || a->position == ROCE_POS_MIDDLE) &&
	       (b->position == ROCE_POS_MIDDLE || b->position == ROCE_POS_LAST);
}

bool core_burst_append(struct core_burst *t, const struct roce_packet *pkt,
		       const struct roce_flow *flow)
{
	const struct roce_bth *b = &pkt->bth;

	if (t->n_iov == CORE_BURST_IOV || t->last_ackreq || t->last_solicited ||
	    !may_follow(t->last_opcode, b->opcode) || b->dest_qp != t->head.bth.dest_qp ||
	    b->psn != psn_add(t->head.bth.psn, t->count) || b->pkey != t->head.bth.pkey ||
	    pkt->xrcsrq != t->head.xrcsrq || t->length != t->count * t->segment ||
	    pkt->payload_len > t->segment || pkt->payload_len == 0 ||
	    memcmp(flow, &t->flow, sizeof *flow) != 0)
		return false;
	t->last_opcode = b->opcode;
	t->last_ackreq = b->ackreq;
	t->last_solicited = b->solicited;
	t->count++;
	t->length += pkt->payload_len;
	t->head.immdt = pkt->immdt;
	t->head.ieth = pkt->ieth;
	if (roce_opcode_info(b->opcode)->headers & ROCE_HDR_AETH)
		t->head.aeth = pkt->aeth;
	t->iov[t->n_iov].iov_base = (void *)(uintptr_t)pkt->payload;
	t->iov[t->n_iov++].iov_len = pkt->payload_len;
	return true;
}
