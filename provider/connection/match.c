/* SPDX-License-Identifier: BSD-2-Clause */
/* See match.h. An end in RTR has no values for sending yet. */
#include "match.h"

#include "connection.h"
#include "ends.h"

#include <string.h>

#define PSN_MASK 0xffffffu

static bool sends(const struct uhca_abi_end *e)
{
	return e->attr.qp_state == IBV_QPS_RTS || e->attr.qp_state == IBV_QPS_SQD ||
	       e->attr.qp_state == IBV_QPS_SQE || e->attr.qp_state == IBV_QPS_ERR;
}

/* What a sends, and b expects. So many facts, told or only counted. */
static unsigned look_one_way(const struct uhca_abi_end *a, const struct uhca_abi_end *b, bool tell)
{
	bool psn = ((a->attr.sq_psn ^ b->attr.rq_psn) & PSN_MASK) != 0;
	bool reads = a->attr.max_rd_atomic > b->attr.max_dest_rd_atomic;

	if (!sends(a))
		return 0;
	if (tell && psn)
		uhcav_diagnostic_fact("QP 0x%x has sq_psn 0x%x, QP 0x%x has rq_psn 0x%x", a->qpn,
				      a->attr.sq_psn & PSN_MASK, b->qpn, b->attr.rq_psn & PSN_MASK);
	if (tell && reads)
		uhcav_diagnostic_fact("QP 0x%x may ask max_rd_atomic %u, QP 0x%x takes "
				      "max_dest_rd_atomic %u",
				      a->qpn, a->attr.max_rd_atomic, b->qpn,
				      b->attr.max_dest_rd_atomic);
	return (unsigned)psn + reads;
}

static unsigned look_both_ways(const struct uhca_abi_end *a, const struct uhca_abi_end *b,
			       bool tell)
{
	bool mtu = a->attr.path_mtu != b->attr.path_mtu;
	bool types = a->qp_type != b->qp_type;

	if (tell && types)
		uhcav_diagnostic_fact("QP 0x%x is of type %s, QP 0x%x of %s", a->qpn,
				      a->qp_type == IBV_QPT_UC ? "UC" : "RC", b->qpn,
				      b->qp_type == IBV_QPT_UC ? "UC" : "RC");
	if (tell && mtu)
		uhcav_diagnostic_fact("QP 0x%x has path_mtu %u, QP 0x%x %u", a->qpn,
				      128u << a->attr.path_mtu, b->qpn, 128u << b->attr.path_mtu);
	return (unsigned)types + mtu + look_one_way(a, b, tell) + look_one_way(b, a, tell);
}

/* Does the peer, which the daemon knows, name another queue pair as its own peer? */
static bool is_crossed(const struct uhca_cmd_query_peer_reply *r)
{
	return !r->names_back;
}

static void report_crossed(const struct uhca_cmd_query_peer_reply *r)
{
	uhcav_diagnostic_fact("QP 0x%x has dest_qp_num 0x%x, which has 0x%x%s", r->mine.qpn,
			      r->mine.attr.dest_qp_num, r->peer.attr.dest_qp_num,
			      r->peer.attr.dest_qp_num == r->mine.qpn ? " at another GID" : "");
	if (r->partner && r->partner != r->peer.qpn)
		uhcav_diagnostic_fact("QP 0x%x of %.*s has dest_qp_num 0x%x", r->partner,
				      (int)sizeof(r->partner_device), r->partner_device,
				      r->mine.qpn);
}

/* Each of both ends may find it, and it is told once. */
static void name_once(const struct uhca_abi_end *a, const struct uhca_abi_end *b)
{
	const struct uhca_abi_end *first =
		a->guid < b->guid || (a->guid == b->guid && a->qpn < b->qpn) ? a : b;
	const struct uhca_abi_end *second = first == a ? b : a;

	uhcav_diagnostic_once("conn-mismatch %llx:%x %llx:%x", (unsigned long long)first->guid,
			      first->qpn, (unsigned long long)second->guid, second->qpn);
}

bool uhcav_match_report(const struct uhca_cmd_query_peer_reply *r, const struct uhcav_stack *at,
			const char *title)
{
	/* Of UC a packet does not say who has sent it, and some programs live by that. */
	bool crossed = r->mine.qp_type == IBV_QPT_RC && is_crossed(r);
	char words[UHCAV_END_WORDS];

	if (!crossed && (is_crossed(r) || !look_both_ways(&r->mine, &r->peer, false)))
		return false;
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_CONN_MISMATCH, at, NULL))
		return true;
	uhcav_diagnostic_begin(UHCA_CHECK_CONN_MISMATCH,
			       "the two ends of a connection have different attributes");
	if (crossed)
		report_crossed(r);
	else
		look_both_ways(&r->mine, &r->peer, true);
	name_once(&r->mine, &r->peer);
	uhcav_diagnostic_stack(at, "QP 0x%x %s", r->mine.qpn, title);
	uhcav_left_report((struct uhcav_left){"qp", r->peer.guid, r->peer.qpn, "connected"},
			  "%s connected by", uhcav_end_words(&r->peer, words));
	uhcav_diagnostic_report();
	return true;
}

/* ---- when a program begins to send ---- */

/* The first ones, and then fewer and fewer: a peer may be long in coming. */
static bool is_to_be_looked_at(const struct uhcav_end *e)
{
	return !(e->posts & (e->posts - 1));
}

#define POSTS_MOST 4096u /* with a peer that stays in RTR, all that can be said was said */

static bool is_up(const struct uhca_abi_end *e)
{
	return e->attr.qp_state == IBV_QPS_RTR || e->attr.qp_state == IBV_QPS_RTS;
}

bool uhcav_connection_look(const struct ibv_qp *qp)
{
	const struct uhcav_asker who = {uhcav_context_of(qp->context), qp->handle};
	struct uhca_cmd_query_peer_reply r;
	struct uhcav_end e;

	if (!uhcav_end_posts(qp, &e))
		return true;
	if (!is_to_be_looked_at(&e))
		return false;
	if (e.posts >= POSTS_MOST || !uhcav_ask(&who, 0, &r) || r.found != UHCA_ABI_PEER_KNOWN)
		return true;
	if (!is_up(&r.peer))
		return false;
	return uhcav_match_report(&r, e.connected, "connected by") || sends(&r.peer);
}
