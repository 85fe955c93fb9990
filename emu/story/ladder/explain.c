/* SPDX-License-Identifier: BSD-2-Clause */
/* See explain.h. */
#include "explain.h"

#include "emu/story/tale/tale.h"
#include "ladder_label.h"
#include "wire/cm_msg.h"
#include "wire/mad.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define LABEL_WIDTH 18
#define WIDTH       90
#define RULES_MAX   8
#define PACKETS_MAX 12

/* What the arrows of one message say. */
struct facts {
	unsigned sent, again, arrived, lost, refused;
	unsigned answers, answers_lost, naks, rnr;
	uint8_t syndrome; /* of the last NAK */
	uint64_t nak_ns;
	uint64_t answered_ns; /* last answer that arrived */
	struct {
		uint32_t number;
		const char *text;
		unsigned packets;
	} rule[RULES_MAX];
	unsigned n_rules;
};

/* ---- sentences ---- */

/* A text under a label, broken into lines. */
__attribute__((format(printf, 3, 4))) static void say(FILE *out, const char *label,
						      const char *format, ...)
{
	char text[1200];
	const char *at = text;
	int column = LABEL_WIDTH;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fprintf(out, "  %-*s", LABEL_WIDTH - 2, label);
	while (*at) {
		int n = (int)strcspn(at, " ");

		if (column > LABEL_WIDTH && column + 1 + n > WIDTH) {
			fprintf(out, "\n%*s", LABEL_WIDTH, "");
			column = LABEL_WIDTH;
		}
		column += fprintf(out, "%s%.*s", column > LABEL_WIDTH ? " " : "", n, at);
		at += n;
		at += strspn(at, " ");
	}
	fputc('\n', out);
}

static double since(const struct story *s, uint64_t ns)
{
	return (double)(ns - s->began) / 1e6;
}

static const char *plural(unsigned n)
{
	return n == 1 ? "" : "s";
}

/* ---- facts ---- */

static void note_rule(struct facts *f, uint32_t number, const char *text)
{
	unsigned i = 0;

	while (i < f->n_rules && f->rule[i].number != number)
		i++;
	if (i == RULES_MAX)
		return;
	if (i == f->n_rules) {
		f->rule[i].number = number;
		f->rule[i].text = text;
		f->n_rules++;
	}
	f->rule[i].packets++;
}

static void note_answer(struct facts *f, const struct story *s, const struct story_arrow *a)
{
	const struct story_packet *k = story_arrow_packet(s, a);
	bool has_aeth = roce_opcode_info(k->pkt.bth.opcode)->headers & ROCE_HDR_AETH;
	enum roce_ack_kind kind = roce_syndrome_kind(k->pkt.aeth.syndrome);

	f->answers++;
	if (a->fate != STORY_ARRIVED && a->fate != STORY_SEEN) {
		f->answers_lost++;
		return;
	}
	f->answered_ns = a->arrived ? a->arrived : a->sent;
	if (!has_aeth || kind == ROCE_ACK)
		return;
	f->naks += kind == ROCE_NAK;
	f->rnr += kind == ROCE_RNR_NAK;
	f->syndrome = k->pkt.aeth.syndrome;
	f->nak_ns = f->answered_ns;
}

static void note_request(struct facts *f, const struct story_arrow *a)
{
	f->sent += !a->copy;
	f->again += a->tries > 0 && !a->copy;
	f->arrived += a->fate == STORY_ARRIVED || a->fate == STORY_SEEN;
	f->lost += a->fate == STORY_DROPPED || a->fate == STORY_MISSING;
	f->refused += a->fate == STORY_REFUSED;
}

static void gather(const struct story *s, uint32_t message, uint64_t until, struct facts *f)
{
	*f = (struct facts){.sent = 0};
	for (uint32_t i = s->message[message].first_arrow; i < s->n_arrows; i++) {
		const struct story_arrow *a = &s->arrow[i];
		const char *text;
		uint32_t rule;

		if (a->sent > until)
			break;
		if (a->message != message)
			continue;
		rule = story_arrow_rule(s, a, &text);
		if (rule)
			note_rule(f, rule, text);
		if (a->answer)
			note_answer(f, s, a);
		else
			note_request(f, a);
	}
}

/* ---- what is told of a request ---- */

static void tell_request(FILE *out, const struct story *s, const struct story_message *m)
{
	uint32_t last = psn_add(m->first_psn, m->psns - 1);
	char to[96], from[96];

	story_qp_name(s, m->to, to, sizeof(to));
	story_qp_name(s, m->from, from, sizeof(from));
	if (m->psns == 1)
		say(out, "The request",
		    "%s of %u byte%s, psn %u, from %s to %s, first sent at %.3f ms.",
		    m->op ? m->op : roce_opcode_info(m->opcode)->name, m->bytes, plural(m->bytes),
		    m->first_psn, from, to, since(s, m->began));
	else
		say(out, "The request",
		    "%s of %u bytes, psn %u to %u, from %s to %s, first sent at %.3f ms.",
		    m->op ? m->op : roce_opcode_info(m->opcode)->name, m->bytes, m->first_psn, last,
		    from, to, since(s, m->began));
}

static void tell_packets(FILE *out, const struct facts *f)
{
	char again[64] = "", fate[160] = "";
	size_t n = 0;

	if (f->again)
		snprintf(again, sizeof(again), ", %u of them again", f->again);
	if (f->lost)
		n += (size_t)snprintf(fate + n, sizeof(fate) - n, "; %u %s lost on the way",
				      f->lost, f->lost == 1 ? "was" : "were");
	if (f->refused)
		n += (size_t)snprintf(fate + n, sizeof(fate) - n, "; the receiver took %u not",
				      f->refused);
	if (n == 0 && f->arrived == f->sent)
		snprintf(fate, sizeof(fate), "; %s", f->sent == 1 ? "it arrived" : "all arrived");
	say(out, "Its packets", "%u packet%s sent%s%s.", f->sent, f->sent == 1 ? " was" : "s were",
	    again, fate);
}

static void tell_answers(FILE *out, const struct story *s, const struct facts *f)
{
	unsigned came = f->answers - f->answers_lost;
	char name[64];

	if (f->answers == 0) {
		say(out, "What came back", "Nothing.");
	} else if (came == 0) {
		say(out, "What came back", "Nothing: the peer answered, but %s %u answer%s lost.",
		    f->answers == 1 ? "its" : "all", f->answers,
		    f->answers == 1 ? " was" : "s were");
	} else if (f->naks + f->rnr > 0) {
		story_syndrome(f->syndrome, name, sizeof(name));
		say(out, "What came back",
		    "%u answer%s, of which %u %s; the last NAK at %.3f ms: %s.", came, plural(came),
		    f->naks + f->rnr, f->naks + f->rnr == 1 ? "was a NAK" : "were NAKs",
		    since(s, f->nak_ns), name);
	} else {
		say(out, "What came back", "%u answer%s, the last at %.3f ms%s.", came,
		    plural(came), since(s, f->answered_ns),
		    f->answers_lost ? "; others were lost" : "");
	}
}

static void tell_rules(FILE *out, const struct facts *f)
{
	for (unsigned i = 0; i < f->n_rules; i++)
		say(out, i == 0 ? "Rules" : "", "Rule %u (%s) touched %u of these packets.",
		    f->rule[i].number, f->rule[i].text ? f->rule[i].text : "its text is not known",
		    f->rule[i].packets);
}

/* ---- what else happened at the QP ---- */

static void tell_states(FILE *out, const struct story *s, const struct story_record *c)
{
	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct story_record *r = &s->record[i];
		const char *to = story_word(r, "to");

		if (r->kind != STORY_STATE || r->qp != c->qp || !to ||
		    (strcmp(to, "ERR") != 0 && strcmp(to, "SQE") != 0))
			continue;
		say(out, "The QP", "It went from %s to %s at %.3f ms%s",
		    story_word(r, "from") ? story_word(r, "from") : "?", to, since(s, r->ns),
		    strcmp(to, "ERR") == 0 ? ": nothing more is sent or received on it."
					   : ": what waits to be sent is flushed.");
		return;
	}
}

/* Hits of rules that changed no packet but the completion itself, or a call. */
static void tell_hits(FILE *out, const struct story *s, const struct story_record *c)
{
	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct story_record *r = &s->record[i];
		const char *layer = story_word(r, "layer");

		if (r->kind == STORY_HIT && r->qp == c->qp && r->ns <= c->ns && layer &&
		    strcmp(layer, "completion") == 0)
			say(out, "Rules", "Rule %s changed a completion of this QP at %.3f ms.",
			    story_word(r, "rule") ? story_word(r, "rule") : "?", since(s, r->ns));
	}
}

/* The record of this moment; NULL: it is a packet. */
static const struct story_record *record_at(const struct story *s, uint32_t moment)
{
	return s->moment[moment].is_record ? &s->record[s->moment[moment].index] : NULL;
}

/* The first completion of the QP that failed by itself. */
static const struct story_record *first_failure(const struct story *s, uint32_t qp)
{
	for (uint32_t i = 0; i < s->n_moments; i++) {
		const struct story_record *r = record_at(s, i);
		const char *status;

		if (!r || r->kind != STORY_COMPLETION || r->qp != qp)
			continue;
		status = story_word(r, "status");
		if (status && strcmp(status, "SUCCESS") != 0 && strcmp(status, "WR_FLUSH_ERR") != 0)
			return r;
	}
	return NULL;
}

static void tell_cause_of_flush(FILE *out, const struct story *s, const struct story_record *c)
{
	const struct story_record *r = first_failure(s, c->qp);

	if (r)
		say(out, "The cause", "%s wr %s of this QP failed with %s at %.3f ms.",
		    story_word(r, "opcode") ? story_word(r, "opcode") : "A request,",
		    story_word(r, "wr") ? story_word(r, "wr") : "?", story_word(r, "status"),
		    since(s, r->ns));
	else
		say(out, "The cause",
		    "No request of this QP failed by itself: the program or a fault took it to an "
		    "error state, or its peer did.");
}

static void tell_status(FILE *out, const struct story_record *c, const struct story_status *st)
{
	uint32_t vendor = (uint32_t)story_number(c, "vendor");
	char found[128];

	if (!st) {
		say(out, "The status", "It is no status that verbs knows.");
		return;
	}
	say(out, "The status", "%s (%u): %s", st->name, st->value, st->meaning);
	if (vendor)
		say(out, "It was found", "%s (vendor error 0x%" PRIx32 ").",
		    story_vendor_error(vendor, found, sizeof(found)), vendor);
	say(out, "Specification", "InfiniBand Architecture, volume 1, %s.", st->clause);
	say(out, "Look at", "%s", st->check);
}

static void tell_message(FILE *out, const struct story *s, const struct story_record *c)
{
	const char *op = story_word(c, "opcode");
	bool receive = op && strncmp(op, "RECV", 4) == 0;
	struct facts f;

	if (c->message == STORY_NONE) {
		say(out, "Its packets",
		    receive ? "No message arrived for it in this capture."
			    : "None of this request is in this capture: it failed before it was "
			      "sent, or was sent before the capture begins.");
		return;
	}
	gather(s, c->message, c->ns, &f);
	tell_request(out, s, &s->message[c->message]);
	tell_packets(out, &f);
	tell_answers(out, s, &f);
	tell_rules(out, &f);
}

static void tell_completion(FILE *out, const struct story *s, const struct story_record *c)
{
	const char *status = story_word(c, "status");
	const char *op = story_word(c, "opcode"), *wr = story_word(c, "wr");
	bool flushed = status && strcmp(status, "WR_FLUSH_ERR") == 0;
	char name[96];

	fprintf(out, "%s wr %s of %s: %s at %.3f ms\n\n", op ? op : "Request", wr ? wr : "?",
		story_qp_name(s, c->qp, name, sizeof(name)), status ? status : "?",
		since(s, c->ns));
	if (flushed)
		tell_cause_of_flush(out, s, c);
	else
		tell_message(out, s, c);
	tell_hits(out, s, c);
	tell_states(out, s, c);
	tell_status(out, c, story_status_find(status));
	fputc('\n', out);
}

/* ---- in one sentence ---- */

static void sum_up_answers(FILE *out, const struct facts *f)
{
	char name[64];

	if (f->answers == 0) {
		fputs(", nothing came back", out);
	} else if (f->answers == f->answers_lost) {
		fprintf(out, ", the peer answered, but %u answer%s lost", f->answers,
			f->answers == 1 ? " was" : "s were");
	} else if (f->naks + f->rnr > 0) {
		story_syndrome(f->syndrome, name, sizeof(name));
		fprintf(out, ", the peer refused: %s", name);
	} else {
		fputs(", answers came", out);
	}
}

static void sum_up_packets(FILE *out, const struct story *s, const struct story_record *c)
{
	struct facts f;

	if (c->message == STORY_NONE)
		return;
	gather(s, c->message, c->ns, &f);
	fprintf(out, ": %u packet%s sent", f.sent, f.sent == 1 ? " was" : "s were");
	if (f.again)
		fprintf(out, " (%u of them again)", f.again);
	if (f.lost + f.refused)
		fprintf(out, ", %u did not get through", f.lost + f.refused);
	sum_up_answers(out, &f);
	for (unsigned i = 0; i < f.n_rules; i++)
		fprintf(out, "; rule %u (%s) touched %u", f.rule[i].number,
			f.rule[i].text ? f.rule[i].text : "its text is not known",
			f.rule[i].packets);
}

void story_explain_shortly(FILE *out, const struct story *s, const struct story_record *c)
{
	const char *status = story_word(c, "status"), *op = story_word(c, "opcode");
	const char *wr = story_word(c, "wr");
	const struct story_record *first;
	char name[96] = "a QP that is not known";

	if (c->qp != STORY_NONE)
		story_qp_name(s, c->qp, name, sizeof(name));
	fprintf(out, "%s wr %s of %s ended with %s at %.3f ms", op ? op : "Request", wr ? wr : "?",
		name, status ? status : "?", since(s, c->ns));
	first = status && strcmp(status, "WR_FLUSH_ERR") == 0 ? first_failure(s, c->qp) : NULL;
	if (first)
		fprintf(out, ": it was flushed after the failure at %.3f ms", since(s, first->ns));
	else
		sum_up_packets(out, s, c);
	fputc('.', out);
}

/* ---- connections that were rejected ---- */

static bool is_reject(const struct story_packet *k, struct roce_cm_msg *msg)
{
	return k->pkt.bth.dest_qp == ROCE_GSI_QPN && k->pkt.payload_len >= ROCE_MAD_LENGTH &&
	       roce_cm_parse(k->pkt.payload, msg) && msg->attr == ROCE_CM_REJ;
}

static void tell_reject(FILE *out, const struct story *s, const struct story_arrow *a,
			const struct roce_cm_msg *msg)
{
	uint32_t rule;
	const char *text;

	rule = story_arrow_rule(s, a, &text);
	fprintf(out, "Connection rejected by %s at %.3f ms\n\n", s->host[s->qp[a->from].host].name,
		since(s, a->sent));
	say(out, "The reason", "%u: %s.", msg->rej.reason, story_cm_reason(msg->rej.reason));
	say(out, "It went to", "%s, which sees RDMA_CM_EVENT_REJECTED with status %u%s.",
	    s->host[s->qp[a->to].host].name, msg->rej.reason,
	    a->fate == STORY_ARRIVED || a->fate == STORY_SEEN ? "" : "; but this one was lost");
	if (rule)
		say(out, "Rules", "Rule %u (%s) touched or made it.", rule,
		    text ? text : "its text is not known");
	fputc('\n', out);
}

/* Without --qp and --wr: these ask about requests. Returns how many there are. */
static unsigned tell_rejects(FILE *out, const struct story *s, const struct explain_options *o)
{
	struct roce_cm_msg msg;
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n_arrows && !o->has_qp && !o->has_wr; i++)
		if (!s->arrow[i].copy && is_reject(story_arrow_packet(s, &s->arrow[i]), &msg) &&
		    n++ < EXPLAIN_MAX)
			tell_reject(out, s, &s->arrow[i], &msg);
	return n;
}

/* ---- which completions ---- */

static bool is_wanted(const struct story *s, const struct story_record *r,
		      const struct explain_options *o)
{
	uint32_t peer;

	if (r->kind != STORY_COMPLETION || r->qp == STORY_NONE)
		return false;
	peer = s->qp[r->qp].peer;
	if (o->has_qp && s->qp[r->qp].number != o->qp &&
	    (peer == STORY_NONE || s->qp[peer].number != o->qp))
		return false;
	return !o->has_wr || story_number(r, "wr") == o->wr;
}

static bool has_status(const struct story_record *r, const char *name)
{
	const char *status = story_word(r, "status");

	return status && strcmp(status, name) == 0;
}

bool story_explain_wants(const struct story *s, const struct story_record *r,
			 const struct explain_options *o)
{
	return is_wanted(s, r, o) && (o->has_wr || !has_status(r, "SUCCESS"));
}

/* What can be said where no device told of completions. */
static void tell_traffic(FILE *out, const struct story *s)
{
	unsigned naks = 0, again = 0, lost = 0;

	for (uint32_t i = 0; i < s->n_arrows; i++) {
		const struct story_arrow *a = &s->arrow[i];
		const struct story_packet *k = story_arrow_packet(s, a);

		again += a->tries > 0;
		lost += a->fate == STORY_DROPPED || a->fate == STORY_MISSING ||
			a->fate == STORY_REFUSED;
		naks += (roce_opcode_info(k->pkt.bth.opcode)->headers & ROCE_HDR_AETH) &&
			roce_syndrome_kind(k->pkt.aeth.syndrome) != ROCE_ACK;
	}
	fprintf(out, "%u packet%s in all: %u lost, %u sent again, %u NAK%s.\n", s->n_arrows,
		plural(s->n_arrows), lost, again, naks, plural(naks));
}

static void tell_none(FILE *out, const struct story *s, const struct explain_options *o,
		      unsigned completions)
{
	if (completions == 0 && !o->has_wr)
		fputs("No completion is told of in this capture: its devices are not of uhcad, or "
		      "nothing was completed.\n",
		      out);
	else if (o->has_wr)
		fprintf(out, "No completion of wr 0x%" PRIx64 " is in this capture.\n", o->wr);
	else
		fprintf(out, "%u completion%s, and none has an error.\n", completions,
			plural(completions));
	tell_traffic(out, s);
}

unsigned story_explain(FILE *out, const struct story *s, const struct explain_options *o)
{
	unsigned rejects = tell_rejects(out, s, o);
	unsigned told = 0, flushed = 0, more = 0, completions = 0;

	for (uint32_t i = 0; i < s->n_moments; i++) {
		const struct story_record *r = record_at(s, i);

		if (!r || !is_wanted(s, r, o))
			continue;
		completions++;
		if (!o->has_wr && has_status(r, "SUCCESS"))
			continue;
		if (!o->has_wr && has_status(r, "WR_FLUSH_ERR") && first_failure(s, r->qp))
			flushed++;
		else if (told == EXPLAIN_MAX)
			more++;
		else if (++told)
			tell_completion(out, s, r);
	}
	if (told == 0)
		tell_none(out, s, o, completions);
	if (flushed)
		fprintf(out,
			"%u more request%s flushed (WR_FLUSH_ERR) after that: not begun, and no "
			"cause of anything.\n",
			flushed, flushed == 1 ? " was" : "s were");
	if (more)
		fprintf(out, "%u more completion%s not told: choose with --qp and --wr.\n", more,
			more == 1 ? " is" : "s are");
	if (s->cut)
		fprintf(out,
			"%zu frame%s truncated: the capture has less than their headers, and what "
			"they were is not told.\n",
			s->cut, s->cut == 1 ? " is" : "s are");
	if (s->error[0])
		fprintf(out, "The capture is broken here: %s\n", s->error);
	return told + rejects;
}
