/* SPDX-License-Identifier: BSD-2-Clause */
/* See datagram.h. Places are remembered in tables that forget: to ask again is no harm. */
#include "datagram.h"

#include "connection.h"
#include "ends.h"

#include <pthread.h>
#include <unistd.h>

#define PLACES     256u
#define MULTICAST  0xffffffu
#define CONTROLLED 0x80000000u /* such a Q_Key in a request: the queue pair's own is sent */
#define GRH        40u
#define ASKED_MOST 4096u /* a receiver that is not up by then is not awaited */

static struct place {
	struct uhcav_asker who;
	uint32_t ah, qpn, qkey;
	uint32_t posts; /* since it was first asked about; UINT32_MAX: all is known */
} places[PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct place *place_of(const struct uhcav_datagram *d)
{
	uint32_t hash = (d->who.handle * 31 + d->ah) * 31 + d->qpn;

	return &places[(hash ^ hash >> 8) % PLACES];
}

static bool is_at(const struct place *p, const struct uhcav_datagram *d)
{
	return p->who.ctx == d->who.ctx && p->who.handle == d->who.handle && p->ah == d->ah &&
	       p->qpn == d->qpn && p->qkey == d->qkey;
}

/* The first ones, and then fewer and fewer. */
static bool is_to_be_asked(const struct uhcav_datagram *d)
{
	struct place *p = place_of(d);
	bool ask;

	pthread_mutex_lock(&lock);
	if (!is_at(p, d))
		*p = (struct place){d->who, d->ah, d->qpn, d->qkey, 0};
	if (p->posts < ASKED_MOST)
		p->posts++;
	ask = p->posts < ASKED_MOST && !(p->posts & (p->posts - 1));
	pthread_mutex_unlock(&lock);
	return ask;
}

static void is_known(const struct uhcav_datagram *d)
{
	struct place *p = place_of(d);

	pthread_mutex_lock(&lock);
	if (is_at(p, d))
		p->posts = ASKED_MOST;
	pthread_mutex_unlock(&lock);
}

static bool receives(const struct uhca_abi_end *e)
{
	return e->qp_type == IBV_QPT_UD &&
	       (e->attr.qp_state == IBV_QPS_RTR || e->attr.qp_state == IBV_QPS_RTS);
}

static void report(const struct uhcav_datagram *d, const struct uhca_cmd_query_peer_reply *r,
		   uint32_t sent)
{
	char words[UHCAV_END_WORDS];

	if (!uhcav_diagnostic_is_new(UHCA_CHECK_QKEY_MISMATCH, d->posted, NULL))
		return;
	uhcav_diagnostic_begin(
		UHCA_CHECK_QKEY_MISMATCH,
		"a datagram does not have the Q_Key of the queue pair that it goes to");
	uhcav_diagnostic_fact("Q_Key 0x%x of UD QP 0x%x", sent, r->mine.qpn);
	uhcav_diagnostic_fact("%s has Q_Key 0x%x", uhcav_end_words(&r->peer, words),
			      r->peer.attr.qkey);
	uhcav_diagnostic_stack(d->posted, "posted by");
	uhcav_left_report((struct uhcav_left){"qp", r->peer.guid, r->peer.qpn, "qkey"},
			  "QP 0x%x was given its Q_Key by", r->peer.qpn);
	uhcav_diagnostic_report();
}

void uhcav_datagram_look(const struct uhcav_datagram *d)
{
	struct uhca_cmd_query_peer_reply r;
	uint32_t sent;

	if (d->qpn == MULTICAST || !uhcav_check_on(UHCA_CHECK_QKEY_MISMATCH) || !is_to_be_asked(d))
		return;
	if (!uhcav_ask_datagram(&d->who, d->ah, d->qpn, &r) || r.found != UHCA_ABI_PEER_KNOWN) {
		is_known(d);
		return;
	}
	if (!receives(&r.peer))
		return;
	sent = d->qkey & CONTROLLED ? r.mine.attr.qkey : d->qkey;
	if (sent != r.peer.attr.qkey)
		report(d, &r, sent);
	is_known(d);
}

/* ---- what was sent ---- */

#define SENT_MOST 64u /* with one that takes so many all is well */
#define SPECIAL   1u  /* QP 0 and QP 1 are everybody's */

static struct sent {
	struct uhcav_asker who;
	uint32_t ah, qpn, n;
	bool known; /* somebody had the number once: that it is gone now is no mistake */
	const struct uhcav_stack *early; /* posted one that its target's state has dropped */
	pid_t pid;                       /* the process that did: not a child of it */
} sents[PLACES];
static unsigned earlies; /* of them: under the lock, looked at without */

/* Under the lock. */
static struct sent *sent_to(const struct uhcav_datagram *d)
{
	uint32_t hash = (d->who.handle * 31 + d->ah) * 31 + d->qpn;
	struct sent *s = &sents[(hash ^ hash >> 8) % PLACES];

	if (s->who.ctx != d->who.ctx || s->who.handle != d->who.handle || s->ah != d->ah ||
	    s->qpn != d->qpn) {
		earlies -= s->early != NULL;
		*s = (struct sent){d->who, d->ah, d->qpn, 0, false, NULL, 0};
	}
	return s;
}

static bool is_sent_to_be_asked(const struct uhcav_datagram *d)
{
	struct sent *s;
	bool ask;

	pthread_mutex_lock(&lock);
	s = sent_to(d);
	if (s->n < SENT_MOST)
		s->n++;
	ask = s->n < SENT_MOST && !(s->n & (s->n - 1));
	pthread_mutex_unlock(&lock);
	return ask;
}

static bool was_known(const struct uhcav_datagram *d, bool is_known_now)
{
	struct sent *s;
	bool known;

	pthread_mutex_lock(&lock);
	s = sent_to(d);
	known = s->known |= is_known_now;
	pthread_mutex_unlock(&lock);
	return known;
}

static void report_nobody(struct uhcav_here here, const struct uhcav_datagram *d,
			  const struct uhca_cmd_query_peer_reply *r)
{
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_CONN_UNANSWERED, d->posted, NULL))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_CONN_UNANSWERED,
			       "a datagram goes to a QP number that no process has: it is lost");
	uhcav_diagnostic_fact("remote_qpn 0x%x of UD QP 0x%x: no queue pair of the device at that "
			      "GID has the number",
			      d->qpn, r->mine.qpn);
	uhcav_diagnostic_stack(d->posted, "posted by");
	uhcav_diagnostic_stack(uhcav_stack_take(here), "its completion was polled by");
	uhcav_left_report((struct uhcav_left){"qp", r->peer.guid, d->qpn, "gone"},
			  "QP 0x%x destroyed by", d->qpn);
	uhcav_diagnostic_report();
}

/* Of this process, on the same device: its receives were looked at with the post. */
static bool is_looked_at(const struct uhca_abi_end *to, const struct uhca_abi_end *from)
{
	return to->pid == (uint32_t)getpid() && to->guid == from->guid;
}

static void report_too_long(struct uhcav_here here, const struct uhcav_datagram *d,
			    const struct uhca_cmd_query_peer_reply *r, uint64_t length)
{
	const struct uhca_abi_end *to = &r->peer;
	char words[UHCAV_END_WORDS];

	if (is_looked_at(to, &r->mine) ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_UD_RECV_SHORT, d->posted, NULL))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_UD_RECV_SHORT,
			       "a datagram is longer than the receive of its target: it is lost");
	uhcav_diagnostic_fact("%llu bytes of UD QP 0x%x, and 40 in front of them, to %s",
			      (unsigned long long)length, r->mine.qpn, uhcav_end_words(to, words));
	uhcav_diagnostic_cause(&r->cause);
	uhcav_diagnostic_stack(d->posted, "posted by");
	uhcav_diagnostic_stack(uhcav_stack_take(here), "its completion was polled by");
	uhcav_left_report((struct uhcav_left){to->srq ? "srq" : "qp", to->guid,
					      to->srq ? to->srq : to->qpn, "receive 0"},
			  "%s 0x%x posts receives by", to->srq ? "SRQ" : "QP",
			  to->srq ? to->srq : to->qpn);
	uhcav_diagnostic_report();
}

/* ---- to a queue pair that is not up ---- */

static bool is_too_early(const struct uhca_cmd_query_peer_reply *r)
{
	return r->found == UHCA_ABI_PEER_KNOWN && r->peer.qp_type == IBV_QPT_UD &&
	       r->peer.attr.qp_state < IBV_QPS_RTR;
}

/* A sender may try again until its peer is up: it is judged when it is through. */
static void note_early(const struct uhcav_datagram *d, bool early)
{
	struct sent *s;

	pthread_mutex_lock(&lock);
	s = sent_to(d);
	earlies += early && !s->early;
	earlies -= !early && s->early;
	s->early = !early ? NULL : s->early ? s->early : d->posted;
	s->pid = getpid();
	pthread_mutex_unlock(&lock);
}

static void report_early(const struct sent *s, const struct uhca_cmd_query_peer_reply *r)
{
	char words[UHCAV_END_WORDS];

	if (!uhcav_diagnostic_is_new(UHCA_CHECK_CONN_UNANSWERED, s->early, NULL))
		return;
	uhcav_diagnostic_begin(
		UHCA_CHECK_CONN_UNANSWERED,
		"a datagram goes to a queue pair that was not moved to RTR: it is lost");
	uhcav_diagnostic_fact("remote_qpn 0x%x of UD QP 0x%x: %s", s->qpn, r->mine.qpn,
			      uhcav_end_words(&r->peer, words));
	uhcav_diagnostic_cause(&r->cause);
	uhcav_diagnostic_stack(s->early, "posted by");
	uhcav_left_report((struct uhcav_left){"qp", r->peer.guid, r->peer.qpn, "qkey"},
			  "QP 0x%x was moved to INIT by", r->peer.qpn);
	uhcav_diagnostic_report();
}

static bool take_early(struct sent *s, const struct uhcav_datagram *of, struct sent *out)
{
	bool taken;

	pthread_mutex_lock(&lock);
	taken = s->early && s->pid == getpid() && (!of->who.ctx || of->who.ctx == s->who.ctx) &&
		(!of->who.handle || of->who.handle == s->who.handle) &&
		(!of->ah || of->ah == s->ah);
	*out = *s;
	if (taken) {
		s->early = NULL;
		earlies--;
	}
	pthread_mutex_unlock(&lock);
	return taken;
}

void uhcav_datagram_over(const struct uhcav_datagram *of)
{
	struct uhca_cmd_query_peer_reply r;
	struct sent s;

	if (!__atomic_load_n(&earlies, __ATOMIC_RELAXED))
		return;
	for (unsigned i = 0; i < PLACES; i++)
		if (take_early(&sents[i], of, &s) && uhcav_ask_datagram(&s.who, s.ah, s.qpn, &r) &&
		    is_too_early(&r) && r.cause.kind == UHCA_ABI_CAUSE_STATE)
			report_early(&s, &r);
}

void uhcav_datagram_sent(struct uhcav_here here, const struct uhcav_datagram *d, uint64_t length)
{
	struct uhca_cmd_query_peer_reply r;

	if (d->qpn == MULTICAST || d->qpn <= SPECIAL || !d->ah || !is_sent_to_be_asked(d) ||
	    !uhcav_ask_datagram(&d->who, d->ah, d->qpn, &r))
		return;
	if (!was_known(d, r.found != UHCA_ABI_PEER_ABSENT) && r.found == UHCA_ABI_PEER_ABSENT)
		report_nobody(here, d, &r);
	note_early(d, is_too_early(&r));
	if (r.found == UHCA_ABI_PEER_KNOWN && r.cause.kind == UHCA_ABI_CAUSE_RECEIVE_SHORT &&
	    r.cause.got == length + GRH)
		report_too_long(here, d, &r, length);
}
