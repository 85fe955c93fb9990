/* SPDX-License-Identifier: BSD-2-Clause */
/* Tracks QPs in order of appearance and their first PSNs, for qp=#N and psn=+N. */
#include "plan_seen.h"

#include "wire/mad.h"

/* FNV-1a. */
static uint64_t identity(const char *device, uint32_t qpn)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; device && *device; device++)
		h = (h ^ (uint8_t)*device) * UINT64_C(0x100000001b3);
	for (unsigned i = 0; i < 4; i++)
		h = (h ^ (qpn >> 8 * i & 0xff)) * UINT64_C(0x100000001b3);
	return h ? h : 1;
}

/*
 * A response has the PSN of its request (9.7.5), which went the other way: its place among the
 * PSNs is that of the request.
 */
enum fault_direction fault_seen_space(const struct fault_subject *s)
{
	const enum roce_operation op = roce_opcode_info(s->pkt->bth.opcode)->operation;
	const bool response =
		op == ROCE_OP_ACK || op == ROCE_OP_READ_RESP || op == ROCE_OP_ATOMIC_ACK;

	return (s->direction == FAULT_TX) == response ? FAULT_RX : FAULT_TX;
}

static struct fault_seen_qp *seen_qp_find(struct fault_seen *seen, const struct fault_subject *s)
{
	const uint64_t id = identity(s->device, s->qpn);
	uint32_t at = (uint32_t)(id ^ id >> 32) % FAULT_SEEN_MAX;

	for (; seen->place[at].id && seen->place[at].id != id; at = (at + 1) % FAULT_SEEN_MAX)
		;
	if (seen->place[at].id)
		return &seen->place[at];
	/* One place stays free, so that every search ends. */
	if (seen->n == FAULT_SEEN_MAX - 1)
		return NULL;
	seen->place[at].id = id;
	seen->place[at].order = ++seen->n;
	return &seen->place[at];
}

const struct fault_seen_qp *fault_seen_note(struct fault_seen *seen, const struct fault_subject *s)
{
	struct fault_seen_qp *qp;

	if (s->qpn <= ROCE_GSI_QPN)
		return NULL;
	qp = seen_qp_find(seen, s);
	if (qp && s->layer == FAULT_LAYER_PACKET && s->pkt) {
		const enum fault_direction space = fault_seen_space(s);

		if (!qp->has_psn[space]) {
			qp->has_psn[space] = true;
			qp->psn[space] = s->pkt->bth.psn;
		}
	}
	return qp;
}
