/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See failed.h. The reason is the one that the device had (emu/abi/cause.h); what is looked at here
 * is whose mistake it was, and which calls have made it.
 */
#include "failed.h"

#include "connection.h"
#include "ends.h"
#include "match.h"

#include <errno.h>

struct failed_request {
	const struct uhcav_failed *f;
	const struct uhca_cmd_query_peer_reply *r;
	struct uhcav_here here;
};

/* ---- what all findings say ---- */

static void report_request(const struct uhcav_failed *f)
{
	uhcav_diagnostic_request(&f->name);
	if (f->rkey)
		uhcav_diagnostic_fact("remote: R_Key 0x%x, %llu bytes at 0x%llx", f->rkey,
				      (unsigned long long)f->remote_length,
				      (unsigned long long)f->remote_addr);
}

/* False: it was told of this request before. */
static bool begin(const struct failed_request *s, enum uhca_check check, const char *what)
{
	if (!uhcav_diagnostic_is_new(check, s->f->posted, NULL))
		return false;
	uhcav_diagnostic_begin(check, "%s", what);
	report_request(s->f);
	return true;
}

static void report_here(const struct failed_request *s)
{
	const char *title = s->f->polled ? s->f->polled : "its error was polled by";

	uhcav_diagnostic_stack(uhcav_stack_take(s->here), "%s", title);
}

static void report_stacks(const struct failed_request *s)
{
	uhcav_diagnostic_cause(&s->r->cause);
	uhcav_diagnostic_stack(s->f->posted, "posted by");
	report_here(s);
}

/* A stack that the peer has left about itself, or about one of its regions. */
__attribute__((format(printf, 5, 0))) static void report_left(const struct failed_request *s,
							      const char *kind, uint32_t number,
							      const char *what, const char *title)
{
	uhcav_left_report((struct uhcav_left){kind, s->r->peer.guid, number, what}, title, number);
}

static void report_peer(const struct failed_request *s)
{
	char words[UHCAV_END_WORDS];

	if (s->r->peer.qpn)
		uhcav_diagnostic_fact("peer: %s", uhcav_end_words(&s->r->peer, words));
}

/* ---- keys and rights ---- */

static void report_key(const struct failed_request *s, enum uhca_check check, const char *what)
{
	const struct uhca_abi_cause *c = &s->r->cause;

	if (!begin(s, check, what))
		return;
	report_peer(s);
	report_stacks(s);
	report_left(s, "mr", c->key, "gone", "memory region 0x%x deregistered by");
	report_left(s, "mr", c->key, "made", "memory region 0x%x registered by");
	if (c->near)
		report_left(s, "mr", c->near, "made", "memory region 0x%x registered by");
	uhcav_diagnostic_report();
}

static void report_qp_right(const struct failed_request *s, enum uhca_check check, const char *what)
{
	if (!begin(s, check, what))
		return;
	report_peer(s);
	report_stacks(s);
	report_left(s, "qp", s->r->peer.qpn, "allowed", "QP 0x%x was given its rights by");
	uhcav_diagnostic_report();
}

/* ---- receives ---- */

static void report_receives(const struct failed_request *s)
{
	const struct uhca_abi_end *e = s->f->is_recv ? &s->r->mine : &s->r->peer;
	static const char *const what[] = {"receive 0", "receive 1", "receive 2"};

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		uhcav_left_report((struct uhcav_left){e->srq ? "srq" : "qp", e->guid,
						      e->srq ? e->srq : e->qpn, what[i]},
				  "%s 0x%x posts receives by", e->srq ? "SRQ" : "QP",
				  e->srq ? e->srq : e->qpn);
}

/* Sender and receiver both may find it. */
static void name_once(const struct failed_request *s, const char *check)
{
	const struct uhca_abi_end *to = s->f->is_recv ? &s->r->mine : &s->r->peer;

	uhcav_diagnostic_once("%s %llx:%x", check, (unsigned long long)to->guid, to->qpn);
}

static void report_short(const struct failed_request *s)
{
	if (!begin(s, UHCA_CHECK_RECV_SHORT,
		   s->f->is_recv ? "a message is longer than the receive that it came to"
				 : "a message is longer than the peer's receive"))
		return;
	report_peer(s);
	name_once(s, "recv-short");
	report_stacks(s);
	if (!s->f->is_recv)
		report_receives(s);
	uhcav_diagnostic_report();
}

static void report_missing(const struct failed_request *s)
{
	if (!begin(s, UHCA_CHECK_RECV_MISSING,
		   "a message has found no receive, as often as it was sent"))
		return;
	report_peer(s);
	if (s->r->found == UHCA_ABI_PEER_KNOWN)
		uhcav_diagnostic_fact("rnr_retry %u here, min_rnr_timer %u there; %u receives are "
				      "posted there now",
				      s->r->mine.attr.rnr_retry, s->r->peer.attr.min_rnr_timer,
				      s->r->peer.recvs);
	report_stacks(s);
	report_receives(s);
	uhcav_diagnostic_report();
}

/* ---- what was never answered ---- */

static void report_partner(const struct failed_request *s)
{
	const struct uhca_cmd_query_peer_reply *r = s->r;

	if (r->partner && r->partner != r->mine.attr.dest_qp_num)
		uhcav_diagnostic_fact("QP 0x%x of %.*s names it as its peer: is that the one?",
				      r->partner, (int)sizeof(r->partner_device),
				      r->partner_device);
	else if (r->partner)
		uhcav_diagnostic_fact("QP 0x%x is one of %.*s, another device: its GID is not the "
				      "one of ah_attr",
				      r->partner, (int)sizeof(r->partner_device),
				      r->partner_device);
}

/* Nothing was heard of the peer ever: it is not that it has ended. */
static void report_unanswered(const struct failed_request *s, const char *why)
{
	uint32_t qpn = s->r->mine.attr.dest_qp_num;

	if (!begin(s, UHCA_CHECK_CONN_UNANSWERED, "requests of a connection are never answered"))
		return;
	uhcav_diagnostic_fact("dest_qp_num 0x%x: %s", qpn, why);
	report_partner(s);
	uhcav_diagnostic_stack(s->f->posted, "posted by");
	uhcav_left_report((struct uhcav_left){"qp", s->r->mine.guid, s->r->mine.qpn, "connected"},
			  "QP 0x%x connected by", s->r->mine.qpn);
	report_here(s);
	report_left(s, "qp", qpn, "gone", "QP 0x%x destroyed by");
	uhcav_diagnostic_report();
}

static void report_why(const struct failed_request *s, const char *why)
{
	if (!begin(s, UHCA_CHECK_COMPLETION_FAILED, why))
		return;
	report_peer(s);
	report_stacks(s);
	if (s->r->found == UHCA_ABI_PEER_ABSENT)
		report_left(s, "qp", s->r->peer.qpn, "gone", "QP 0x%x destroyed by");
	uhcav_diagnostic_report();
}

static const char *why_state(uint32_t state)
{
	switch (state) {
	case IBV_QPS_RESET:
		return "the peer's queue pair is in RESET";
	case IBV_QPS_INIT:
		return "the peer's queue pair is in INIT, and was not moved to RTR";
	case IBV_QPS_ERR:
		return "the peer's queue pair is in ERR";
	default:
		return NULL;
	}
}

static const char *why_silent(const struct uhca_cmd_query_peer_reply *r)
{
	switch ((enum uhca_abi_peer)r->found) {
	case UHCA_ABI_PEER_ABSENT:
		return r->mine.heard ? "the peer's queue pair is gone"
				     : "no queue pair of the device at that GID has the number";
	case UHCA_ABI_PEER_FOREIGN:
		return "no device of this daemon has the GID";
	case UHCA_ABI_PEER_KNOWN:
		return why_state(r->peer.attr.qp_state);
	case UHCA_ABI_PEER_NONE:
	case UHCA_ABI_PEER_OTHERS:
		break;
	}
	return NULL;
}

/* Another daemon's queue pair may be gone, for all that is known here. */
static bool is_astray(const struct uhca_cmd_query_peer_reply *r)
{
	if (r->mine.heard || r->peer.attr.qp_state == IBV_QPS_ERR)
		return false;
	return r->found == UHCA_ABI_PEER_FOREIGN ? r->partner != 0
						 : r->found != UHCA_ABI_PEER_OTHERS;
}

static void explain_silence(const struct failed_request *s)
{
	const char *why = why_silent(s->r);

	if (why && is_astray(s->r))
		report_unanswered(s, why);
	else if (s->r->found != UHCA_ABI_PEER_KNOWN || why ||
		 !uhcav_match_report(s->r, s->f->posted, "has sent, without an answer, by"))
		report_why(s, why ? why : "a request was not answered");
}

/* ---- */

/* Causes that are a mistake with a name, and how each is told. */
static const struct row {
	void (*report)(const struct failed_request *s, enum uhca_check check, const char *what);
	enum uhca_check check;
	const char *what;
} rows[UHCA_ABI_CAUSES] = {
	[UHCA_ABI_CAUSE_KEY_DEAD] = {report_key, UHCA_CHECK_RKEY_DEAD,
				     "a remote request named a deregistered region"},
	[UHCA_ABI_CAUSE_KEY_RIGHT] =
		{report_key, UHCA_CHECK_RKEY_ACCESS,
		 "a remote request named a region without the needed access right"},
	[UHCA_ABI_CAUSE_RANGE] = {report_key, UHCA_CHECK_RKEY_RANGE,
				  "a remote request is not inside the region that it names"},
	[UHCA_ABI_CAUSE_KEY_DOMAIN] = {report_key, UHCA_CHECK_RKEY_FOREIGN,
				       "a remote request named a region of another protection "
				       "domain than that of its peer's queue pair"},
	[UHCA_ABI_CAUSE_KEY_SWAPPED] = {report_key, UHCA_CHECK_KEY_SWAPPED,
					"a remote request has an L_Key instead of an R_Key"},
	[UHCA_ABI_CAUSE_KEY_UNKNOWN] = {report_key, UHCA_CHECK_RKEY_UNKNOWN,
					"a remote request has an R_Key that names nothing"},
	[UHCA_ABI_CAUSE_QP_RIGHT] = {report_qp_right, UHCA_CHECK_QP_ACCESS,
				     "the peer's queue pair does not allow a remote request"},
};

static bool is_about_settings(enum uhca_abi_cause_kind kind)
{
	return kind == UHCA_ABI_CAUSE_READS || kind == UHCA_ABI_CAUSE_PACKET_LENGTH;
}

static void explain(const struct failed_request *s)
{
	const struct row *row = &rows[s->r->cause.kind];
	bool is_of_it = !s->r->cause.key || s->r->cause.key == s->f->rkey; /* no receive's key */

	if (row->report && is_of_it)
		row->report(s, row->check, row->what);
	else if (s->r->found != UHCA_ABI_PEER_KNOWN || !is_about_settings(s->r->cause.kind) ||
		 !uhcav_match_report(s->r, s->f->posted, "has sent what was refused by"))
		report_why(s, "a request has failed");
}

void uhcav_failed_explain(struct uhcav_here here, const struct uhcav_failed *f)
{
	struct uhca_cmd_query_peer_reply r;
	const struct failed_request s = {f, &r, here};
	int saved = errno;

	if (!uhcav_ask(&f->who, f->status, &r))
		return;
	if (r.cause.kind == UHCA_ABI_CAUSE_RECEIVE_SHORT)
		report_short(&s);
	else if (f->status == IBV_WC_RNR_RETRY_EXC_ERR)
		report_missing(&s);
	else if (f->status == IBV_WC_RETRY_EXC_ERR)
		explain_silence(&s);
	else
		explain(&s);
	errno = saved;
}
