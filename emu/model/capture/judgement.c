/* SPDX-License-Identifier: BSD-2-Clause */
/* Judges each packet and request of a capture: executed, lost, refused, and why. */
#include "judgement.h"

#include "statuses.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- packets ---- */

static const struct model_packet *packet(const struct model *s, uint32_t i)
{
	return i == MODEL_NONE ? NULL : &s->packet[i];
}

const char *model_arrow_judged(const struct model *s, const struct model_arrow *a)
{
	return a->in == MODEL_NONE ? NULL : s->packet[a->in].judged;
}

/* Why the packet was dropped or judged so; NULL: not known. */
static const struct uhca_abi_cause *arrow_cause(const struct model *s, const struct model_arrow *a)
{
	const struct model_packet *in = packet(s, a->in), *out = packet(s, a->out);

	if (in && in->cause)
		return in->cause;
	return out ? out->cause : NULL;
}

/* The packet arrived, and the receiver executed it or took it for what it is; so of an answer. */
static bool arrow_taken(const struct model *s, const struct model_arrow *a)
{
	return a->fate == MODEL_ARRIVED && !model_arrow_judged(s, a);
}

/* What the drop counters' names mean, for packets whose cause is not told. */
static const char *drop_words(const char *name)
{
	static const struct {
		const char *name, *words;
	} drop[] = {
		{"no_qp", "no such QP there"},
		{"state", "the QP is in no state to receive"},
		{"service", "the QP has another transport"},
		{"address", "not from the QP's peer"},
		{"pkey", "wrong P_Key"},
		{"qkey", "wrong Q_Key"},
		{"sequence", "out of sequence"},
		{"duplicate", "a duplicate whose response is no longer kept"},
		{"response", "it acknowledges no outstanding request"},
		{"no_recv", "no receive request"},
		{"length", "too long"},
		{"port", "the port is down"},
		{"bad_icrc", "its ICRC is wrong"},
		{"malformed", "malformed packet"},
		{"no_route", "no device has this address"},
		{"step", "taken off the wire in step mode"},
	};

	for (size_t i = 0; i < sizeof(drop) / sizeof(drop[0]); i++)
		if (strcmp(drop[i].name, name) == 0)
			return drop[i].words;
	return name;
}

static const char *reason_of(const struct model *s, const struct model_arrow *a, char *buf,
			     size_t cap)
{
	const struct uhca_abi_cause *c = arrow_cause(s, a);
	const char *dropped = model_arrow_dropped(s, a);

	buf[0] = '\0';
	if (c)
		return model_cause_text(c, buf, cap);
	if (dropped)
		snprintf(buf, cap, "%s", drop_words(dropped));
	return buf;
}

static const char *dropped_words(const struct model *s, const struct model_arrow *a, char *buf,
				 size_t cap)
{
	const char *dropped = model_arrow_dropped(s, a);
	char reason[MODEL_CAUSE_MAX];

	if (dropped && strcmp(dropped, "rule") == 0)
		snprintf(buf, cap, "lost");
	else
		snprintf(buf, cap, "%s: %s", a->fate == MODEL_DROPPED ? "lost" : "not taken",
			 reason_of(s, a, reason, sizeof(reason)));
	return buf;
}

static const char *judged_words(const struct model *s, const struct model_arrow *a,
				const char *judged, char *buf, size_t cap)
{
	const struct uhca_abi_cause *c = arrow_cause(s, a);
	const char *what = strcmp(judged, "not_ready") == 0 ? "the receiver is not ready"
			   : strcmp(judged, "failed") == 0  ? "it fails there"
							    : judged;
	char reason[MODEL_CAUSE_MAX];

	if (strcmp(judged, "duplicate") == 0 && c)
		snprintf(buf, cap, "%s", model_cause_text(c, reason, sizeof(reason)));
	else
		snprintf(buf, cap, "%s%s%s", what, c ? ": " : "",
			 c ? model_cause_text(c, reason, sizeof(reason)) : "");
	return buf;
}

const char *model_arrow_words(const struct model *s, const struct model_arrow *a, char *buf,
			      size_t cap)
{
	const char *judged = model_arrow_judged(s, a);

	buf[0] = '\0';
	switch (a->fate) {
	case MODEL_DROPPED:
	case MODEL_REFUSED:
		return dropped_words(s, a, buf, cap);
	case MODEL_MISSING:
		snprintf(buf, cap, "it never arrived");
		break;
	case MODEL_ARRIVED:
	case MODEL_SEEN:
		if (judged)
			return judged_words(s, a, judged, buf, cap);
		break;
	}
	return buf;
}

/* ---- requests ---- */

static void count_rule(struct model_counts *c, uint32_t number, const char *text)
{
	unsigned i = 0;

	while (i < c->n_rules && c->rule[i].number != number)
		i++;
	if (i == MODEL_RULES_MAX)
		return;
	if (i == c->n_rules) {
		c->rule[i].number = number;
		c->rule[i].text = text;
		c->n_rules++;
	}
	c->rule[i].packets++;
}

/* How often the rule fired on packets of the message: as its records say; 0: they are not there. */
static unsigned count_hits(const struct model *s, const struct model_message *m, uint32_t rule,
			   uint64_t until)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct model_record *r = &s->record[i];

		n += r->kind == MODEL_HIT && r->ns <= until && model_number(r, "rule") == rule &&
		     model_word(r, "psn") &&
		     psn_in_window((uint32_t)model_number(r, "psn"), m->first_psn, m->psns);
	}
	return n;
}

static void count_answer(struct model_counts *c, const struct model *s, const struct model_arrow *a)
{
	const struct model_packet *k = model_arrow_packet(s, a);
	bool has_aeth = roce_opcode_info(k->pkt.bth.opcode)->headers & ROCE_HDR_AETH;
	enum roce_ack_kind kind = roce_syndrome_kind(k->pkt.aeth.syndrome);

	c->answers++;
	c->answers_lost += a->fate == MODEL_DROPPED || a->fate == MODEL_MISSING;
	c->answers_refused += a->fate == MODEL_REFUSED;
	if (a->fate != MODEL_ARRIVED && a->fate != MODEL_SEEN)
		return;
	c->answered_ns = a->arrived ? a->arrived : a->sent;
	if (!has_aeth || kind == ROCE_ACK)
		return;
	c->naks += kind == ROCE_NAK;
	c->rnr += kind == ROCE_RNR_NAK;
	c->syndrome = k->pkt.aeth.syndrome;
	c->nak_ns = c->answered_ns;
}

static void count_request(struct model_counts *c, const struct model *s,
			  const struct model_arrow *a)
{
	c->sent += !a->copy;
	c->again += a->tries > 0 && !a->copy;
	c->taken += arrow_taken(s, a);
	c->judged += a->fate == MODEL_ARRIVED && model_arrow_judged(s, a);
	c->refused += a->fate == MODEL_REFUSED;
	c->lost += a->fate == MODEL_DROPPED || a->fate == MODEL_MISSING;
	c->unknown += a->fate == MODEL_SEEN;
}

/* Something is told of why it was not taken. */
static bool decides(const struct model *s, const struct model_arrow *a)
{
	return arrow_cause(s, a) && !arrow_taken(s, a);
}

/* Of a request more can be said than of its answer, and by its first packet. */
static unsigned weight(const struct model *s, const struct model_arrow *a)
{
	const struct model_message *m = &s->message[a->message];

	if (a->answer)
		return 0;
	return model_arrow_packet(s, a)->pkt.bth.psn == m->first_psn ? 2 : 1;
}

void model_count(const struct model *s, uint32_t message, uint64_t until, struct model_counts *out)
{
	unsigned best = 0;

	*out = (struct model_counts){.decisive = MODEL_NONE};
	for (uint32_t i = s->message[message].first_arrow; i < s->n_arrows; i++) {
		const struct model_arrow *a = &s->arrow[i];
		const char *text;
		uint32_t rule;

		if (a->sent > until)
			break;
		if (a->message != message)
			continue;
		rule = model_arrow_rule(s, a, &text);
		if (rule)
			count_rule(out, rule, text);
		if (decides(s, a) && weight(s, a) >= best) {
			best = weight(s, a);
			out->decisive = i;
		}
		if (a->answer)
			count_answer(out, s, a);
		else
			count_request(out, s, a);
	}
	for (unsigned i = 0; i < out->n_rules; i++)
		out->rule[i].hits = count_hits(s, &s->message[message], out->rule[i].number, until);
}

void model_count_for(const struct model *s, const struct model_record *completion,
		     struct model_counts *out)
{
	model_count(s, completion->message,
		    model_is_receive(completion) ? UINT64_MAX : completion->ns, out);
}

bool model_is_receive(const struct model_record *completion)
{
	const char *op = model_word(completion, "opcode");

	return op && strncmp(op, "RECV", 4) == 0;
}

/* ---- why ---- */

struct reason {
	char *buf;
	size_t cap;
};

__attribute__((format(printf, 2, 3))) static void because(const struct reason *r,
							  const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->buf, r->cap, format, ap);
	va_end(ap);
}

/* The host that the message went to said that nobody listens there. */
static const struct model_record *unreachable(const struct model *s, const struct model_message *m,
					      uint64_t until)
{
	const char *host = s->host[s->qp[m->to].host].name;

	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct model_record *r = &s->record[i];

		if (r->kind == MODEL_UNREACHABLE && r->ns <= until &&
		    model_word_is(r, "address", host))
			return r;
	}
	return NULL;
}

static void say_lost(const struct reason *r, const struct model_counts *c)
{
	if (c->n_rules == 1 && c->rule[0].packets >= c->lost)
		because(r, "rule %" PRIu32 " lost %s packet of it", c->rule[0].number,
			c->lost == 1 ? "the only" : "every");
	else
		because(r, "no packet of it arrived");
}

/* The peer has executed it, or could have, and no answer was taken. */
static void say_unanswered(const struct reason *r, const struct model_counts *c)
{
	if (c->answers == 0)
		because(r, "the peer got it and answered nothing");
	else if (c->answers_lost == c->answers)
		because(r, "the peer got it, but %s lost",
			c->answers == 1 ? "its answer was" : "all its answers were");
	else
		because(r, "the peer got it, but no answer acknowledged all of it");
}

static void say_decisive(const struct reason *r, const struct model *s,
			 const struct model_counts *c)
{
	const struct model_arrow *a = &s->arrow[c->decisive];
	const char *judged = model_arrow_judged(s, a);
	char text[MODEL_CAUSE_MAX];

	model_cause_text(arrow_cause(s, a), text, sizeof(text));
	if (a->answer)
		because(r, "no answer fits: of the last, %s", text);
	else if (judged && strcmp(judged, "duplicate") == 0)
		because(r,
			"at the peer %s; sq_psn of the sending QP and rq_psn of the peer's do not "
			"fit",
			text);
	else
		because(r, "at the peer %s", text);
}

static void why_no_answer(const struct reason *r, const struct model *s,
			  const struct model_record *c, const struct model_counts *n)
{
	const struct model_message *m = &s->message[c->message];
	const struct model_record *gone = unreachable(s, m, c->ns);

	if (n->taken > 0 || (n->unknown > 0 && n->answers_lost > 0))
		say_unanswered(r, n);
	else if (n->decisive != MODEL_NONE)
		say_decisive(r, s, n);
	else if (gone)
		because(r, "no device is at %s: its host reports UDP port %s as closed",
			model_word(gone, "address"), model_word_or(gone, "port", "4791"));
	else if (n->lost > 0 && n->lost == n->sent)
		say_lost(r, n);
	else if (n->unknown > 0 && n->answers == 0)
		because(r,
			"no answer came; %s is not a device of this capture, so the arrival of "
			"packets there is unknown",
			s->host[s->qp[m->to].host].name);
}

static void why_refused(const struct reason *r, const struct model *s,
			const struct model_message *m, const struct model_counts *n)
{
	char name[64];

	if (n->decisive != MODEL_NONE && !s->arrow[n->decisive].answer)
		say_decisive(r, s, n);
	else if (n->rnr > 0 && n->naks == 0)
		because(r, "the peer had no receive request for it (RNR NAK)");
	else if (n->naks > 0) {
		model_syndrome(n->syndrome, name, sizeof(name));
		because(r, "the peer refused it (%s)%s", name,
			s->host[s->qp[m->to].host].ours
				? ""
				: "; a capture of its device has the reason");
	}
}

/* The request of its peer for which the QP went to ERR; MODEL_NONE: none that is told of. */
static uint32_t fatal_request(const struct model *s, uint32_t qp, uint64_t until)
{
	for (uint32_t i = 0; i < s->n_arrows && s->arrow[i].sent <= until; i++) {
		const struct model_arrow *a = &s->arrow[i];
		const char *judged = a->to == qp ? model_arrow_judged(s, a) : NULL;
		const struct uhca_abi_cause *c = judged ? arrow_cause(s, a) : NULL;

		if (c && (strcmp(judged, "refused") == 0 || strcmp(judged, "failed") == 0) &&
		    c->kind != UHCA_ABI_CAUSE_PSN_AHEAD)
			return i;
	}
	return MODEL_NONE;
}

static const struct model_record *to_error(const struct model *s, uint32_t qp, uint64_t until)
{
	const struct model_record *found = NULL;

	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct model_record *r = &s->record[i];

		if (r->kind == MODEL_STATE && r->qp == qp && r->ns <= until &&
		    model_word_is(r, "to", "ERR"))
			found = r;
	}
	return found;
}

static void say_fatal_request(const struct reason *r, const struct model *s,
			      const struct model_arrow *a)
{
	const struct model_packet *k = model_arrow_packet(s, a);
	char text[MODEL_CAUSE_MAX];

	model_cause_text(arrow_cause(s, a), text, sizeof(text));
	because(r, "this QP refused a request of its peer (%s psn %" PRIu32 "): %s",
		k->op ? k->op : roce_opcode_info(k->pkt.bth.opcode)->name, k->pkt.bth.psn, text);
}

void model_find_failures(struct model *s)
{
	for (uint32_t i = 0; i < s->n_moments; i++) {
		const struct model_record *r =
			s->moment[i].is_record ? &s->record[s->moment[i].index] : NULL;

		if (r && model_is_failure(r) && r->qp != MODEL_NONE &&
		    s->qp[r->qp].failed == MODEL_NONE &&
		    !model_word_is(r, "status", "WR_FLUSH_ERR"))
			s->qp[r->qp].failed = s->moment[i].index;
	}
}

const struct model_record *model_first_failure(const struct model *s, uint32_t qp)
{
	uint32_t failed = qp == MODEL_NONE ? MODEL_NONE : s->qp[qp].failed;

	return failed == MODEL_NONE ? NULL : &s->record[failed];
}

static void why_flushed(const struct reason *r, const struct model *s, const struct model_record *c)
{
	const struct model_record *first = model_first_failure(s, c->qp);
	uint32_t fatal = fatal_request(s, c->qp, c->ns);
	const struct model_record *state = to_error(s, c->qp, c->ns);

	if (first && first->ns <= c->ns)
		because(r, "%s wr %s of this QP had failed with %s at %.3f ms",
			model_word_or(first, "opcode", "a request,"),
			model_word_or(first, "wr", "?"), model_word(first, "status"),
			(double)(first->ns - s->began) / 1e6);
	else if (fatal != MODEL_NONE)
		say_fatal_request(r, s, &s->arrow[fatal]);
	else if (state && model_word_is(state, "by", "program"))
		because(r, "the program took the QP to ERR");
	else
		because(r, "no request of this QP failed in this capture; the cause of the error "
			   "state is unknown");
}

const char *model_why(const struct model *s, const struct model_record *completion, char *buf,
		      size_t cap)
{
	const char *status = model_word(completion, "status");
	const struct reason r = {buf, cap};
	struct model_counts n;

	buf[0] = '\0';
	if (!status || completion->qp == MODEL_NONE || strcmp(status, "SUCCESS") == 0)
		return buf;
	if (strcmp(status, "WR_FLUSH_ERR") == 0) {
		why_flushed(&r, s, completion);
		return buf;
	}
	if (completion->cause)
		return model_cause_text(completion->cause, buf, cap);
	if (completion->message == MODEL_NONE || model_is_receive(completion))
		return buf;
	model_count_for(s, completion, &n);
	if (strcmp(status, "RETRY_EXC_ERR") == 0)
		why_no_answer(&r, s, completion, &n);
	else if (strncmp(status, "REM_", 4) == 0 || strcmp(status, "RNR_RETRY_EXC_ERR") == 0)
		why_refused(&r, s, &s->message[completion->message], &n);
	return buf;
}
