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
	static bool ask_##name(__attribute__((unused)) const struct fault_select *f,               \
			       __attribute__((unused)) const struct fault_subject *s,              \
			       __attribute__((unused)) const struct fault_seen_qp *qp)

#define ASK_LIST_(name)                                                                            \
	ASK_(name)                                                                                 \
	{                                                                                          \
		return fault_list_has(&f->name, s->name);                                          \
	}
#define ASK_NAME_(name)                                                                            \
	ASK_(name)                                                                                 \
	{                                                                                          \
		return s->name && fault_glob_any(f->name, s->name);                                \
	}

ASK_(direction)
{
	return f->direction == s->direction;
}

ASK_(opcode)
{
	return s->pkt && fault_opcode_selects(f, s->pkt);
}

ASK_(retry)
{
	return s->retry;
}

ASK_(qp)
{
	return fault_list_has(&f->qp, s->qpn);
}

ASK_(psn)
{
	return s->pkt && fault_list_has(&f->psn, s->pkt->bth.psn);
}

ASK_(length)
{
	return fault_list_has(&f->length, s->pkt ? s->pkt->payload_len : s->length);
}

ASK_LIST_(offset)

ASK_(byte)
{
	return s->pkt && f->byte >= s->offset && f->byte - s->offset < s->pkt->payload_len;
}

ASK_(wc_status)
{
	return f->wc_status >> (s->wc_status & 63) & 1;
}

ASK_(wc_opcode)
{
	return f->wc_opcode >> fault_wc_opcode_bit(s->wc_opcode) & 1;
}

ASK_LIST_(client)
ASK_LIST_(pd)
ASK_LIST_(cq)

ASK_(peer_qp)
{
	if (s->pkt && s->direction == FAULT_TX)
		return fault_list_has(&f->peer_qp, s->pkt->bth.dest_qp);
	if (has_header(s, ROCE_HDR_DETH))
		return fault_list_has(&f->peer_qp, s->pkt->deth.src_qp);
	return s->peer_qpn && fault_list_has(&f->peer_qp, s->peer_qpn);
}

ASK_(srq)
{
	return fault_list_has(&f->srq, has_header(s, ROCE_HDR_XRCETH) ? s->pkt->xrcsrq : s->srq);
}

ASK_(key)
{
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
	if (has_header(s, ROCE_HDR_RETH))
		return touches(&f->address, s->pkt->reth.va, s->pkt->reth.length);
	if (has_header(s, ROCE_HDR_ATOMICETH))
		return touches(&f->address, s->pkt->atomiceth.va, 8);
	return s->address && touches(&f->address, s->address, s->length);
}

ASK_(peer)
{
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
	for (unsigned i = 0; s->flow && i < f->n_to; i++)
		if (same_bits(s->flow->dst, f->to[i], f->to_bits[i]))
			return true;
	return false;
}

ASK_(sport)
{
	return s->flow && fault_list_has(&f->sport, s->flow->sport);
}

ASK_(dscp)
{
	return s->flow && fault_list_has(&f->dscp, roce_flow_dscp(s->flow));
}

ASK_(cm)
{
	struct roce_mad mad;

	if (!s->pkt || s->pkt->bth.dest_qp != ROCE_GSI_QPN || s->pkt->payload_len < ROCE_MAD_LENGTH)
		return false;
	roce_mad_parse(s->pkt->payload, &mad);
	return mad.mgmt_class == ROCE_MAD_CLASS_CM && mad.attr_id >= 0x10 && mad.attr_id <= 0x1a &&
	       (f->cm >> (mad.attr_id & 31) & 1);
}

ASK_(qp_order)
{
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
	/* A device action of the clock is not asked with a device. */
	return s->device ? fault_glob_any(f->device, s->device) : s->layer == FAULT_LAYER_TIME;
}

ASK_NAME_(port)
ASK_NAME_(call)
ASK_NAME_(program)

/* ---- all of them, the cheap ones first ---- */

/* Each by its name, the word of rules that asks it, and whether a rule (r, f) does. */
#define QUESTIONS_(X)                                                                              \
	X(DIRECTION, direction, "dir",                                                             \
	  r->layer == FAULT_LAYER_PACKET && f->direction != FAULT_BOTH)                            \
	X(OPCODE, opcode, "opcode", f->by_opcode)                                                  \
	X(RETRY, retry, "retry", f->retry)                                                         \
	X(QP, qp, "qp", f->qp.n)                                                                   \
	X(PSN, psn, "psn", f->psn.n)                                                               \
	X(LENGTH, length, "length", f->length.n)                                                   \
	X(OFFSET, offset, "offset", f->offset.n)                                                   \
	X(BYTE, byte, "corrupt", f->by_byte)                                                       \
	X(WC_STATUS, wc_status, "wc", f->wc_status)                                                \
	X(WC_OPCODE, wc_opcode, "wc.opcode", f->wc_opcode)                                         \
	X(CLIENT, client, "client", f->client.n)                                                   \
	X(PD, pd, "pd", f->pd.n)                                                                   \
	X(CQ, cq, "cq", f->cq.n)                                                                   \
	X(PEER_QP, peer_qp, "peer_qp", f->peer_qp.n)                                               \
	X(SRQ, srq, "srq", f->srq.n)                                                               \
	X(KEY, key, "key", f->key.n)                                                               \
	X(ADDRESS, address, "address", f->address.n)                                               \
	X(PEER, peer, "peer", f->n_peers || f->names_peers)                                        \
	X(TO, to, "to", f->n_to)                                                                   \
	X(SPORT, sport, "sport", f->sport.n)                                                       \
	X(DSCP, dscp, "dscp", f->dscp.n)                                                           \
	X(CM, cm, "cm", f->cm)                                                                     \
	X(QP_ORDER, qp_order, "qp", f->qp_order.n)                                                 \
	X(PSN_RELATIVE, psn_relative, "psn", f->psn_relative.n)                                    \
	X(DEVICE, device, "dev", f->device[0])                                                     \
	X(CALL, call, "call", f->call[0])                                                          \
	X(PROGRAM, program, "program", f->program[0])                                              \
	X(PORT, port, "at", f->port[0])

#define NUMBER_(number, name, word, given) number,
enum { QUESTIONS_(NUMBER_) QUESTIONS };

_Static_assert(QUESTIONS == FAULT_QUESTIONS, "plan.h counts them");

#define WORD_(number, name, word, given) word,
static const char *const words[QUESTIONS] = {QUESTIONS_(WORD_)};

const char *fault_match_word(unsigned i)
{
	return words[i];
}

#define ASKED_(number, name, word, given) ask_##name,
static bool (*const ask[QUESTIONS])(const struct fault_select *, const struct fault_subject *,
				    const struct fault_seen_qp *) = {QUESTIONS_(ASKED_)};

#define GIVEN_(number, name, word, given) given,

uint32_t fault_match_tests(const struct fault_rule *r)
{
	const struct fault_select *f = &r->select;
	const bool given[QUESTIONS] = {QUESTIONS_(GIVEN_)};
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
