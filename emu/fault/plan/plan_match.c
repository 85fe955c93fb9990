/* SPDX-License-Identifier: BSD-2-Clause */
/* Matches a packet, call, completion or access against the selectors of a rule. */
#include "plan_match.h"

#include "emu/fault/rule/rules.h"
#include "wire/mad.h"

#include <string.h>

bool fault_list_has(const struct fault_list *l, uint64_t v)
{
	for (unsigned i = 0; i < l->n; i++)
		if (v >= l->range[i].low && v <= l->range[i].high)
			return true;
	return false;
}

static bool has_header(const struct fault_subject *s, enum roce_header h)
{
	return s->pkt && (roce_opcode_info(s->pkt->bth.opcode)->headers & (uint32_t)h);
}

/* ---- one question each ---- */

#define ASK_(name)                                                                                 \
	static bool ask_##name(const struct fault_select *f, const struct fault_subject *s,        \
			       const struct fault_seen_qp *qp)
#define UNUSED_QP_ (void)qp

ASK_(direction)
{
	UNUSED_QP_;
	return f->direction == s->direction;
}

ASK_(opcode)
{
	UNUSED_QP_;
	return s->pkt && fault_opcode_selects(f, s->pkt);
}

ASK_(retry)
{
	UNUSED_QP_;
	(void)f;
	return s->retry;
}

ASK_(qp)
{
	UNUSED_QP_;
	return fault_list_has(&f->qp, s->qpn);
}

ASK_(psn)
{
	UNUSED_QP_;
	return s->pkt && fault_list_has(&f->psn, s->pkt->bth.psn);
}

ASK_(length)
{
	UNUSED_QP_;
	return fault_list_has(&f->length, s->pkt ? s->pkt->payload_len : s->length);
}

ASK_(offset)
{
	UNUSED_QP_;
	return fault_list_has(&f->offset, s->offset);
}

ASK_(byte)
{
	UNUSED_QP_;
	return s->pkt && f->byte >= s->offset && f->byte - s->offset < s->pkt->payload_len;
}

ASK_(wc_status)
{
	UNUSED_QP_;
	return f->wc_status >> (s->wc_status & 63) & 1;
}

ASK_(wc_opcode)
{
	UNUSED_QP_;
	return f->wc_opcode >> fault_wc_opcode_bit(s->wc_opcode) & 1;
}

ASK_(client)
{
	UNUSED_QP_;
	return fault_list_has(&f->client, s->client);
}

ASK_(pd)
{
	UNUSED_QP_;
	return fault_list_has(&f->pd, s->pd);
}

ASK_(cq)
{
	UNUSED_QP_;
	return fault_list_has(&f->cq, s->cq);
}

ASK_(peer_qp)
{
	UNUSED_QP_;
	if (s->pkt && s->direction == FAULT_TX)
		return fault_list_has(&f->peer_qp, s->pkt->bth.dest_qp);
	if (has_header(s, ROCE_HDR_DETH))
		return fault_list_has(&f->peer_qp, s->pkt->deth.src_qp);
	return s->peer_qpn && fault_list_has(&f->peer_qp, s->peer_qpn);
}

ASK_(srq)
{
	UNUSED_QP_;
	return fault_list_has(&f->srq, has_header(s, ROCE_HDR_XRCETH) ? s->pkt->xrcsrq : s->srq);
}

ASK_(key)
{
	UNUSED_QP_;
	if (has_header(s, ROCE_HDR_RETH))
		return fault_list_has(&f->key, s->pkt->reth.rkey);
	if (has_header(s, ROCE_HDR_ATOMICETH))
		return fault_list_has(&f->key, s->pkt->atomiceth.rkey);
	if (has_header(s, ROCE_HDR_IETH))
		return fault_list_has(&f->key, s->pkt->ieth);
	return s->key && fault_list_has(&f->key, s->key);
}

/* Any byte of what is accessed. */
static bool touches(const struct fault_list *l, uint64_t address, uint64_t length)
{
	const uint64_t more = length ? length - 1 : 0;
	const uint64_t last = more > UINT64_MAX - address ? UINT64_MAX : address + more;

	for (unsigned i = 0; i < l->n; i++)
		if (last >= l->range[i].low && address <= l->range[i].high)
			return true;
	return false;
}

ASK_(address)
{
	UNUSED_QP_;
	if (has_header(s, ROCE_HDR_RETH))
		return touches(&f->address, s->pkt->reth.va, s->pkt->reth.length);
	if (has_header(s, ROCE_HDR_ATOMICETH))
		return touches(&f->address, s->pkt->atomiceth.va, 8);
	return s->address && touches(&f->address, s->address, s->length);
}

ASK_(peer)
{
	UNUSED_QP_;
	for (unsigned i = 0; s->flow && i < f->n_peers; i++)
		if (memcmp(s->direction == FAULT_TX ? s->flow->dst : s->flow->src, f->peer[i],
			   16) == 0)
			return true;
	return false;
}

static bool same_bits(const uint8_t a[16], const uint8_t b[16], unsigned bits)
{
	const unsigned whole = bits / 8, rest = bits % 8;

	return memcmp(a, b, whole) == 0 && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

ASK_(to)
{
	UNUSED_QP_;
	for (unsigned i = 0; s->flow && i < f->n_to; i++)
		if (same_bits(s->flow->dst, f->to[i], f->to_bits[i]))
			return true;
	return false;
}

ASK_(sport)
{
	UNUSED_QP_;
	return s->flow && fault_list_has(&f->sport, s->flow->sport);
}

ASK_(dscp)
{
	UNUSED_QP_;
	return s->flow && fault_list_has(&f->dscp, roce_flow_dscp(s->flow));
}

ASK_(cm)
{
	struct roce_mad mad;

	UNUSED_QP_;
	if (!s->pkt || s->pkt->bth.dest_qp != ROCE_GSI_QPN || s->pkt->payload_len < ROCE_MAD_LENGTH)
		return false;
	roce_mad_parse(s->pkt->payload, &mad);
	return mad.mgmt_class == ROCE_MAD_CLASS_CM && mad.attr_id >= 0x10 && mad.attr_id <= 0x1a &&
	       (f->cm >> (mad.attr_id & 31) & 1);
}

ASK_(qp_order)
{
	(void)s;
	return qp && fault_list_has(&f->qp_order, qp->order);
}

ASK_(psn_relative)
{
	return qp && s->pkt &&
	       fault_list_has(&f->psn_relative,
			      (s->pkt->bth.psn - qp->psn[fault_seen_space(s)]) & 0xffffff);
}

ASK_(device)
{
	UNUSED_QP_;
	/* A device action of the clock is not asked with a device. */
	return s->device ? fault_glob_any(f->device, s->device) : s->layer == FAULT_LAYER_TIME;
}

ASK_(port)
{
	UNUSED_QP_;
	return s->port && fault_glob_any(f->port, s->port);
}

ASK_(call)
{
	UNUSED_QP_;
	return s->call && fault_glob_any(f->call, s->call);
}

ASK_(program)
{
	UNUSED_QP_;
	return s->program && fault_glob_any(f->program, s->program);
}

/* ---- all of them, the cheap ones first ---- */

enum {
	DIRECTION,
	OPCODE,
	RETRY,
	QP,
	PSN,
	LENGTH,
	OFFSET,
	BYTE,
	WC_STATUS,
	WC_OPCODE,
	CLIENT,
	PD,
	CQ,
	PEER_QP,
	SRQ,
	KEY,
	ADDRESS,
	PEER,
	TO,
	SPORT,
	DSCP,
	CM,
	QP_ORDER,
	PSN_RELATIVE,
	DEVICE,
	CALL,
	PROGRAM,
	PORT,
	QUESTIONS
};

_Static_assert(QUESTIONS == FAULT_QUESTIONS, "plan.h counts them");

static const char *const words[QUESTIONS] = {
	[DIRECTION] = "dir",   [OPCODE] = "opcode",
	[RETRY] = "retry",     [QP] = "qp",
	[PSN] = "psn",         [LENGTH] = "length",
	[OFFSET] = "offset",   [BYTE] = "corrupt",
	[WC_STATUS] = "wc",    [WC_OPCODE] = "wc.opcode",
	[CLIENT] = "client",   [PD] = "pd",
	[CQ] = "cq",           [PEER_QP] = "peer_qp",
	[SRQ] = "srq",         [KEY] = "key",
	[ADDRESS] = "address", [PEER] = "peer",
	[TO] = "to",           [SPORT] = "sport",
	[DSCP] = "dscp",       [CM] = "cm",
	[QP_ORDER] = "qp",     [PSN_RELATIVE] = "psn",
	[DEVICE] = "dev",      [CALL] = "call",
	[PROGRAM] = "program", [PORT] = "at",
};

const char *fault_match_word(unsigned i)
{
	return words[i];
}

static bool (*const ask[QUESTIONS])(const struct fault_select *, const struct fault_subject *,
				    const struct fault_seen_qp *) = {
	[DIRECTION] = ask_direction,
	[OPCODE] = ask_opcode,
	[RETRY] = ask_retry,
	[QP] = ask_qp,
	[PSN] = ask_psn,
	[LENGTH] = ask_length,
	[OFFSET] = ask_offset,
	[BYTE] = ask_byte,
	[WC_STATUS] = ask_wc_status,
	[WC_OPCODE] = ask_wc_opcode,
	[CLIENT] = ask_client,
	[PD] = ask_pd,
	[CQ] = ask_cq,
	[PEER_QP] = ask_peer_qp,
	[SRQ] = ask_srq,
	[KEY] = ask_key,
	[ADDRESS] = ask_address,
	[PEER] = ask_peer,
	[TO] = ask_to,
	[SPORT] = ask_sport,
	[DSCP] = ask_dscp,
	[CM] = ask_cm,
	[QP_ORDER] = ask_qp_order,
	[PSN_RELATIVE] = ask_psn_relative,
	[DEVICE] = ask_device,
	[CALL] = ask_call,
	[PROGRAM] = ask_program,
	[PORT] = ask_port,
};

uint32_t fault_match_tests(const struct fault_rule *r)
{
	const struct fault_select *f = &r->select;
	const bool given[QUESTIONS] = {
		[DIRECTION] = r->layer == FAULT_LAYER_PACKET && f->direction != FAULT_BOTH,
		[OPCODE] = f->by_opcode,
		[RETRY] = f->retry,
		[QP] = f->qp.n,
		[PSN] = f->psn.n,
		[LENGTH] = f->length.n,
		[OFFSET] = f->offset.n,
		[BYTE] = f->by_byte,
		[WC_STATUS] = f->wc_status,
		[WC_OPCODE] = f->wc_opcode,
		[CLIENT] = f->client.n,
		[PD] = f->pd.n,
		[CQ] = f->cq.n,
		[PEER_QP] = f->peer_qp.n,
		[SRQ] = f->srq.n,
		[KEY] = f->key.n,
		[ADDRESS] = f->address.n,
		[PEER] = f->n_peers || f->names_peers,
		[TO] = f->n_to,
		[SPORT] = f->sport.n,
		[DSCP] = f->dscp.n,
		[CM] = f->cm,
		[QP_ORDER] = f->qp_order.n,
		[PSN_RELATIVE] = f->psn_relative.n,
		[DEVICE] = f->device[0],
		[CALL] = f->call[0],
		[PROGRAM] = f->program[0],
		[PORT] = f->port[0],
	};
	uint32_t tests = 0;

	for (unsigned i = 0; i < QUESTIONS; i++)
		tests |= given[i] ? UINT32_C(1) << i : 0;
	/* What else a device action of the clock says names its object. */
	if (r->layer == FAULT_LAYER_TIME)
		tests &= UINT32_C(1) << DEVICE;
	return tests;
}

uint32_t fault_match_line(void)
{
	return 1u << QP | 1u << CLIENT | 1u << PD | 1u << PEER_QP | 1u << SRQ | 1u << PEER |
	       1u << TO | 1u << QP_ORDER | 1u << DEVICE | 1u << PROGRAM;
}

bool fault_match_wants_seen(const struct fault_rule *r)
{
	return r->select.qp_order.n || r->select.psn_relative.n;
}

bool fault_match(const struct fault_rule *r, uint32_t tests, const struct fault_subject *s,
		 const struct fault_seen_qp *qp)
{
	for (unsigned i = 0; tests; i++, tests >>= 1)
		if ((tests & 1) && !ask[i](&r->select, s, qp))
			return false;
	return true;
}

bool fault_match_count(const struct fault_rule *r, uint32_t tests, const struct fault_subject *s,
		       const struct fault_seen_qp *qp, uint64_t passed[FAULT_QUESTIONS])
{
	bool all = true;

	for (unsigned i = 0; tests; i++, tests >>= 1) {
		bool yes = (tests & 1) && ask[i](&r->select, s, qp);

		passed[i] += yes;
		all = all && (yes || !(tests & 1));
	}
	return all;
}
