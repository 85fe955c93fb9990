/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the requests of a capture in sentences. */
#include "explain.h"

#include "emu/model/capture/capture_model.h"
#include "emu/words/words.h"
#include "wire/cm_msg.h"
#include "wire/mad.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define LABEL_WIDTH  18
#define WIDTH        90
#define STANDING_MAX (MODEL_STANDING_MAX + MODEL_WHY_MAX)

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
	if (strlen(label) >= LABEL_WIDTH - 2)
		fprintf(out, "\n%*s", LABEL_WIDTH, "");
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

static double since(const struct model *s, uint64_t ns)
{
	return (double)(ns - s->began) / 1e6;
}

/* ---- what is told of a request ---- */

static void print_request(FILE *out, const struct model *s, const struct model_message *m)
{
	uint32_t last = psn_add(m->first_psn, m->psns - 1);
	char to[96], from[96], memory[80] = "", psns[48] = "";

	model_qp_name(s, m->to, to, sizeof(to));
	model_qp_name(s, m->from, from, sizeof(from));
	if (m->psns > 1)
		snprintf(psns, sizeof(psns), " to %u", last);
	if (m->va || m->rkey)
		snprintf(memory, sizeof(memory), ", key 0x%" PRIx32 ", address 0x%" PRIx64, m->rkey,
			 m->va);
	say(out, "The request",
	    "%s of %u byte%s, psn %u%s, from %s to %s%s, first sent at %.3f ms.",
	    m->op ? m->op : roce_opcode_info(m->opcode)->name, m->bytes, words_plural(m->bytes),
	    m->first_psn, psns, from, to, memory, since(s, m->began));
}

/* What the device told of the request when it failed; NULL: nothing. */
static const struct model_record *find_request(const struct model *s, const struct model_record *c)
{
	const struct model_record *found = NULL;

	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct model_record *r = &s->record[i];

		if (r->kind == MODEL_REQUEST && r->qp == c->qp && r->ns <= c->ns &&
		    model_number(r, "wr") == model_number(c, "wr"))
			found = r;
	}
	return found;
}

static void print_lost_request(FILE *out, const struct model *s, const struct model_record *c)
{
	const struct model_record *r = find_request(s, c);
	char memory[80] = "";

	if (!r)
		return;
	if (model_word(r, "key"))
		snprintf(memory, sizeof(memory), ", key %s, address %s", model_word(r, "key"),
			 model_word_or(r, "address", "?"));
	say(out, "The request", "%s of %" PRIu64 " bytes, psn %" PRIu64 ", to QP %s%s.",
	    model_word_or(r, "opcode", "A request"), model_number(r, "length"),
	    model_number(r, "psn"), model_word_or(r, "peer", "?"), memory);
}

/* "; N arrived ...": what became of so many. */
static void add_fate(char *fate, size_t cap, unsigned n, const char *one, const char *more)
{
	size_t used = strlen(fate);

	if (n)
		snprintf(fate + used, cap - used, "; %u %s", n, n == 1 ? one : more);
}

static void print_packets(FILE *out, const struct model_counts *f)
{
	char again[64] = "", fate[400] = "";

	if (f->again)
		snprintf(again, sizeof(again), ", %u of them again", f->again);
	if (f->taken == f->sent)
		snprintf(fate, sizeof(fate), "; %s", f->sent == 1 ? "it arrived" : "all arrived");
	else
		add_fate(fate, sizeof(fate), f->taken, "was executed", "were executed");
	add_fate(fate, sizeof(fate), f->judged, "arrived and was not executed",
		 "arrived and were not executed");
	add_fate(fate, sizeof(fate), f->refused, "arrived and was dropped by the receiver",
		 "arrived and were dropped by the receiver");
	add_fate(fate, sizeof(fate), f->lost, "was lost on the way", "were lost on the way");
	add_fate(fate, sizeof(fate), f->unknown, "left the capture's view; its arrival is unknown",
		 "left the capture's view; their arrival is unknown");
	say(out, "Its packets", "%u packet%s sent%s%s.", f->sent, f->sent == 1 ? " was" : "s were",
	    again, fate);
}

static void print_answers(FILE *out, const struct model *s, const struct model_counts *f)
{
	unsigned came = f->answers - f->answers_lost - f->answers_refused;
	char name[64], rest[160] = "";

	add_fate(rest, sizeof(rest), f->answers_refused,
		 "arrived and acknowledges no outstanding request",
		 "arrived and acknowledge no outstanding request");
	add_fate(rest, sizeof(rest), f->answers_lost, "was lost", "were lost");
	if (f->answers == 0) {
		say(out, "What came back", "Nothing.");
	} else if (came == 0) {
		say(out, "What came back", "%u answer%s sent%s.", f->answers,
		    f->answers == 1 ? " was" : "s were", rest);
	} else if (f->naks + f->rnr > 0) {
		model_syndrome(f->syndrome, name, sizeof(name));
		say(out, "What came back",
		    "%u answer%s, of which %u %s; the last NAK at %.3f ms: %s%s.", came,
		    words_plural(came), f->naks + f->rnr,
		    f->naks + f->rnr == 1 ? "was a NAK" : "were NAKs", since(s, f->nak_ns), name,
		    rest);
	} else {
		say(out, "What came back", "%u answer%s, the last at %.3f ms%s.", came,
		    words_plural(came), since(s, f->answered_ns), rest);
	}
}

/* "fired once: 3 of these packets are lost, changed or made by it" */
static const char *rule_words(const struct model_counts *f, unsigned i, char *buf, size_t cap)
{
	unsigned hits = f->rule[i].hits, n = f->rule[i].packets;
	char times[32];

	snprintf(times, sizeof(times), hits == 1 ? "once" : "%u times", hits);
	if (hits)
		snprintf(buf, cap, "fired %s: %u of these packets %s lost, changed or made by it",
			 times, n, n == 1 ? "is" : "are");
	else
		snprintf(buf, cap, "lost, changed or made %u of these packets", n);
	return buf;
}

static const char *rule_text(const struct model_counts *f, unsigned i)
{
	return f->rule[i].text ? f->rule[i].text : "its text is not known";
}

static void print_rules(FILE *out, const struct model_counts *f)
{
	char words[120];

	for (unsigned i = 0; i < f->n_rules; i++)
		say(out, i == 0 ? "Rules" : "", "Rule %u (%s) %s.", f->rule[i].number,
		    rule_text(f, i), rule_words(f, i, words, sizeof(words)));
}

/* ---- what else happened at the QP ---- */

static void print_states(FILE *out, const struct model *s, const struct model_record *c)
{
	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct model_record *r = &s->record[i];

		if (!model_is_error_state(r) || r->qp != c->qp)
			continue;
		say(out, "The QP", "It went from %s to %s at %.3f ms%s",
		    model_word_or(r, "from", "?"), model_word(r, "to"), since(s, r->ns),
		    model_word_is(r, "to", "ERR") ? ": it sends and receives nothing more."
						  : ": waiting send requests are flushed.");
		return;
	}
}

/* Hits of rules that changed no packet but the completion itself, or a call. */
static void print_hits(FILE *out, const struct model *s, const struct model_record *c)
{
	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct model_record *r = &s->record[i];

		if (r->kind == MODEL_HIT && r->qp == c->qp && r->ns <= c->ns &&
		    model_word_is(r, "layer", "completion"))
			say(out, "Rules", "Rule %s changed a completion of this QP at %.3f ms.",
			    model_word_or(r, "rule", "?"), since(s, r->ns));
	}
}

/* The record of this moment; NULL: it is a packet. */
static const struct model_record *record_at(const struct model *s, uint32_t moment)
{
	return s->moment[moment].is_record ? &s->record[s->moment[moment].index] : NULL;
}

static void print_status(FILE *out, const struct model_record *c, const struct model_status *st)
{
	uint32_t vendor = (uint32_t)model_number(c, "vendor");
	char found[128];

	if (!st) {
		say(out, "The status", "The status is unknown to verbs.");
		return;
	}
	say(out, "The status", "%s (%u): %s", st->name, st->value, st->meaning);
	if (vendor)
		say(out, "It was found", "%s (vendor error 0x%" PRIx32 ").",
		    model_vendor_error(vendor, found, sizeof(found)), vendor);
	say(out, "Specification", "InfiniBand Architecture, volume 1, %s.", st->clause);
	say(out, "Look at", "%s", st->check);
}

static void print_message(FILE *out, const struct model *s, const struct model_record *c)
{
	struct model_counts f;

	if (c->message == MODEL_NONE) {
		print_lost_request(out, s, c);
		say(out, "Its packets",
		    model_is_receive(c)
			    ? "No message arrived for it in this capture."
			    : "The capture has no packet of this request: it failed before it was "
			      "sent, or was sent before the capture began.");
		return;
	}
	model_count_for(s, c, &f);
	print_request(out, s, &s->message[c->message]);
	print_packets(out, &f);
	print_answers(out, s, &f);
	print_rules(out, &f);
}

/* The one reason, as every view gives it. */
static void print_why(FILE *out, const struct model *s, const struct model_record *c)
{
	char why[MODEL_WHY_MAX];

	if (model_why(s, c, why, sizeof(why))[0])
		say(out, "The cause", "%c%s.",
		    why[0] >= 'a' && why[0] <= 'z' ? why[0] - 32 : why[0], why + 1);
}

static void print_completion(FILE *out, const struct model *s, const struct model_record *c)
{
	char name[96];

	fprintf(out, "%s wr %s of %s: %s at %.3f ms\n\n", model_word_or(c, "opcode", "Request"),
		model_word_or(c, "wr", "?"), model_qp_name(s, c->qp, name, sizeof(name)),
		model_word_or(c, "status", "?"), since(s, c->ns));
	print_why(out, s, c);
	if (!model_word_is(c, "status", "WR_FLUSH_ERR"))
		print_message(out, s, c);
	print_hits(out, s, c);
	print_states(out, s, c);
	print_status(out, c, model_status_find(model_word(c, "status")));
	fputc('\n', out);
}

/* ---- in one sentence ---- */

static void sum_up_answers(FILE *out, const struct model_counts *f)
{
	unsigned came = f->answers - f->answers_lost - f->answers_refused;
	char name[64];

	if (f->answers == 0) {
		fputs(", nothing came back", out);
	} else if (f->naks + f->rnr > 0) {
		model_syndrome(f->syndrome, name, sizeof(name));
		fprintf(out, ", the peer refused: %s", name);
	} else if (came > 0) {
		fputs(", answers came", out);
	} else if (f->answers_refused > 0) {
		fprintf(out, ", %u answer%s came that answer%s nothing outstanding",
			f->answers_refused, words_plural(f->answers_refused),
			f->answers_refused == 1 ? "s" : "");
	} else {
		fprintf(out, ", the peer answered, but %u answer%s lost", f->answers,
			f->answers == 1 ? " was" : "s were");
	}
}

static void sum_up_packets(FILE *out, const struct model *s, const struct model_record *c)
{
	struct model_counts f;
	char words[120];

	if (c->message == MODEL_NONE)
		return;
	model_count_for(s, c, &f);
	fprintf(out, "; %u packet%s sent", f.sent, f.sent == 1 ? " was" : "s were");
	if (f.again)
		fprintf(out, " (%u of them again)", f.again);
	if (f.lost + f.refused)
		fprintf(out, ", %u did not get through", f.lost + f.refused);
	if (f.judged)
		fprintf(out, ", %u %s not executed", f.judged, f.judged == 1 ? "was" : "were");
	sum_up_answers(out, &f);
	for (unsigned i = 0; i < f.n_rules; i++)
		fprintf(out, "; rule %u (%s) %s", f.rule[i].number, rule_text(&f, i),
			rule_words(&f, i, words, sizeof(words)));
}

void model_explain_shortly(FILE *out, const struct model *s, const struct model_record *c)
{
	char name[96] = "a QP that is not known", why[MODEL_WHY_MAX];

	if (c->qp != MODEL_NONE)
		model_qp_name(s, c->qp, name, sizeof(name));
	fprintf(out, "%s wr %s of %s ended with %s at %.3f ms",
		model_word_or(c, "opcode", "Request"), model_word_or(c, "wr", "?"), name,
		model_word_or(c, "status", "?"), since(s, c->ns));
	if (model_why(s, c, why, sizeof(why))[0])
		fprintf(out, ": %s", why);
	if (!model_word_is(c, "status", "WR_FLUSH_ERR"))
		sum_up_packets(out, s, c);
	fputc('.', out);
}

/* ---- connections that were rejected ---- */

static bool is_reject(const struct model_packet *k, struct roce_cm_msg *msg)
{
	return k->pkt.bth.dest_qp == ROCE_GSI_QPN && k->pkt.payload_len >= ROCE_MAD_LENGTH &&
	       roce_cm_parse(k->pkt.payload, msg) && msg->attr == ROCE_CM_REJ;
}

static void print_reject(FILE *out, const struct model *s, const struct model_arrow *a,
			 const struct roce_cm_msg *msg)
{
	uint32_t rule;
	const char *text;

	rule = model_arrow_rule(s, a, &text);
	fprintf(out, "Connection rejected by %s at %.3f ms\n\n", s->host[s->qp[a->from].host].name,
		since(s, a->sent));
	say(out, "The reason", "%u: %s.", msg->rej.reason, model_cm_reason(msg->rej.reason));
	say(out, "It went to", "%s, which sees RDMA_CM_EVENT_REJECTED with status %u%s.",
	    s->host[s->qp[a->to].host].name, msg->rej.reason,
	    a->fate == MODEL_ARRIVED || a->fate == MODEL_SEEN ? "" : "; but this one was lost");
	if (rule)
		say(out, "Rules", "Rule %u (%s) changed or made it.", rule,
		    text ? text : "its text is not known");
	fputc('\n', out);
}

/* Without --qp and --wr: these ask about requests. Returns how many there are. */
static unsigned print_rejects(FILE *out, const struct model *s, const struct explain_options *o)
{
	struct roce_cm_msg msg;
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n_arrows && !o->has_qp && !o->has_wr; i++)
		if (!s->arrow[i].copy && is_reject(model_arrow_packet(s, &s->arrow[i]), &msg) &&
		    n++ < EXPLAIN_MAX)
			print_reject(out, s, &s->arrow[i], &msg);
	return n;
}

/* ---- calls that failed, and how things stand ---- */

static bool is_of(const struct model *s, const struct model_record *r,
		  const struct explain_options *o)
{
	return !o->has_qp || (r->qp != MODEL_NONE && s->qp[r->qp].number == o->qp);
}

/* Returns how many there are. */
static unsigned print_calls(FILE *out, const struct model *s, const struct explain_options *o)
{
	char name[96], text[MODEL_STANDING_MAX];
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n_records && !o->has_wr; i++) {
		const struct model_record *r = &s->record[i];

		if (r->kind != MODEL_CALL || !is_of(s, r, o) || !model_word(r, "status") ||
		    model_word_is(r, "status", "slow") || n++ >= EXPLAIN_MAX)
			continue;
		fprintf(out, "Call that failed at %.3f ms\n\n", since(s, r->ns));
		say(out, "On", "%s.",
		    r->qp != MODEL_NONE     ? model_qp_name(s, r->qp, name, sizeof(name))
		    : r->host != MODEL_NONE ? s->host[r->host].name
					    : "a device");
		say(out, "What", "%s.", model_call_text(r, text, sizeof(text)));
		fputc('\n', out);
	}
	return n;
}

/* It arrived, and not one of its packets was executed; nor is a completion told of it. */
static bool is_unexecuted(const struct model *s, uint32_t message, struct model_counts *c)
{
	const struct model_message *m = &s->message[message];

	if (m->completion != MODEL_NONE || s->host[s->qp[m->from].host].ours)
		return false;
	model_count(s, message, UINT64_MAX, c);
	return c->judged > 0 && c->taken == 0 && c->decisive != MODEL_NONE &&
	       !s->arrow[c->decisive].answer;
}

static void print_one_unexecuted(FILE *out, const struct model *s, const struct model_message *m,
				 const struct model_counts *c)
{
	char words[MODEL_WHY_MAX];

	fprintf(out, "Request that was not executed, at %.3f ms\n\n", since(s, m->began));
	say(out, "The cause", "%s.",
	    model_arrow_words(s, &s->arrow[c->decisive], words, sizeof(words)));
	print_request(out, s, m);
	print_packets(out, c);
	fputc('\n', out);
}

/*
 * What the devices of this capture refused of others that are not in it: their captures tell of the
 * completions. Returns how many there are.
 */
static unsigned print_unexecuted(FILE *out, const struct model *s, const struct explain_options *o)
{
	struct model_counts c;
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n_messages && !o->has_wr && n < EXPLAIN_MAX; i++) {
		const struct model_message *m = &s->message[i];

		if (o->has_qp && s->qp[m->to].number != o->qp)
			continue;
		if (!is_unexecuted(s, i, &c))
			continue;
		n++;
		print_one_unexecuted(out, s, m, &c);
	}
	return n;
}

static bool same_word(const struct model_record *a, const struct model_record *b, const char *name)
{
	const char *x = model_word(a, name), *y = model_word(b, name);

	return !x == !y && (!x || strcmp(x, y) == 0);
}

/* The last that is told of this QP, CQ or id. */
static bool is_last(const struct model *s, uint32_t index)
{
	const struct model_record *r = &s->record[index];

	for (uint32_t i = index + 1; i < s->n_records; i++) {
		const struct model_record *b = &s->record[i];

		if (b->kind == MODEL_STANDS && b->host == r->host && b->qp == r->qp &&
		    same_word(r, b, "cq") && same_word(r, b, "cm_id"))
			return false;
	}
	return true;
}

/* A QP in an error state whose requests were all flushed waits for nothing. */
static bool is_over(const struct model_record *r)
{
	return model_word_is(r, "state", "ERR") && model_number(r, "sends") == 0 &&
	       model_number(r, "recvs") == 0;
}

/* What became of the last request that a QP sent which waits for an answer. */
static void add_last_request(const struct model *s, const struct model_record *r, char *text)
{
	size_t used = strlen(text);
	char words[MODEL_WHY_MAX];

	for (uint32_t i = s->n_arrows; i-- > 0;) {
		const struct model_arrow *a = &s->arrow[i];

		if (a->from != r->qp || a->answer || a->copy)
			continue;
		if (a->fate != MODEL_ARRIVED && a->fate != MODEL_SEEN &&
		    model_arrow_words(s, a, words, sizeof(words))[0])
			snprintf(text + used, STANDING_MAX - used,
				 "; what it sent last, at %.3f ms: %s", since(s, a->sent), words);
		return;
	}
}

/* Does the other end of the connection, as it stands at last, wait for a receive request here? */
static bool peer_waits(const struct model *s, const struct model_record *r)
{
	uint32_t peer = s->qp[r->qp].peer;

	for (uint32_t i = s->n_records; peer != MODEL_NONE && i-- > 0;) {
		const struct model_record *b = &s->record[i];

		if (b->kind == MODEL_STANDS && b->qp == peer)
			return model_word_is(b, "waits", "rnr") ||
			       model_word_is(b, "waits", "credit");
	}
	return false;
}

/* What the model knows beside the record itself. */
static void add_model(const struct model *s, const struct model_record *r, char *text)
{
	size_t used = strlen(text);

	if (r->qp == MODEL_NONE)
		return;
	if (model_word_is(r, "waits", "answer"))
		add_last_request(s, r, text);
	else if (model_number(r, "recvs") == 0 && peer_waits(s, r))
		snprintf(text + used, STANDING_MAX - used,
			 ", and a message of its peer waits for one (ibv_post_recv)");
}

static void name_standing(const struct model *s, const struct model_record *r, char name[160])
{
	const char *host = r->host != MODEL_NONE ? s->host[r->host].name : "?";
	char qp[96];

	if (model_word(r, "cm_id"))
		snprintf(name, 160, "rdma_cm id %s", model_word(r, "cm_id"));
	else if (r->qp == MODEL_NONE)
		snprintf(name, 160, "%s CQ %s", host, model_word_or(r, "cq", "?"));
	else if (s->qp[r->qp].program[0])
		snprintf(name, 160, "%s (%s)", model_qp_name(s, r->qp, qp, sizeof(qp)),
			 s->qp[r->qp].program);
	else
		model_qp_name(s, r->qp, name, 160);
}

static void print_standing(FILE *out, const struct model *s, const struct explain_options *o)
{
	char name[160], text[STANDING_MAX];
	bool printed = false;

	for (uint32_t i = 0; i < s->n_records && !o->has_wr; i++) {
		const struct model_record *r = &s->record[i];

		if (r->kind != MODEL_STANDS || !is_of(s, r, o) || !is_last(s, i) || is_over(r))
			continue;
		if (!printed)
			fputs("What waited at the end\n\n", out);
		printed = true;
		name_standing(s, r, name);
		model_standing_text(r, text, MODEL_STANDING_MAX);
		add_model(s, r, text);
		say(out, name, "%s.", text);
	}
	if (printed)
		fputc('\n', out);
}

/* ---- which completions ---- */

static bool is_wanted(const struct model *s, const struct model_record *r,
		      const struct explain_options *o)
{
	uint32_t peer;

	if (r->kind != MODEL_COMPLETION || r->qp == MODEL_NONE)
		return false;
	peer = s->qp[r->qp].peer;
	if (o->has_qp && s->qp[r->qp].number != o->qp &&
	    (peer == MODEL_NONE || s->qp[peer].number != o->qp))
		return false;
	return !o->has_wr || model_number(r, "wr") == o->wr;
}

bool model_explain_wants(const struct model *s, const struct model_record *r,
			 const struct explain_options *o)
{
	return is_wanted(s, r, o) && (o->has_wr || !model_word_is(r, "status", "SUCCESS"));
}

/* What can be said where no device told of completions. */
static void print_traffic(FILE *out, const struct model *s)
{
	unsigned naks = 0, again = 0, lost = 0;

	for (uint32_t i = 0; i < s->n_arrows; i++) {
		const struct model_arrow *a = &s->arrow[i];
		const struct model_packet *k = model_arrow_packet(s, a);

		again += a->tries > 0;
		lost += a->fate == MODEL_DROPPED || a->fate == MODEL_MISSING ||
			a->fate == MODEL_REFUSED;
		naks += (roce_opcode_info(k->pkt.bth.opcode)->headers & ROCE_HDR_AETH) &&
			roce_syndrome_kind(k->pkt.aeth.syndrome) != ROCE_ACK;
	}
	fprintf(out, "%u packet%s in all: %u lost, %u sent again, %u NAK%s.\n", s->n_arrows,
		words_plural(s->n_arrows), lost, again, naks, words_plural(naks));
}

/* A network that marks, and receivers that tell of it; most captures have neither. */
static void print_congestion(FILE *out, const struct model *s)
{
	unsigned marked = 0, cnps = 0;

	for (uint32_t i = 0; i < s->n_arrows; i++) {
		const struct model_packet *k = model_arrow_packet(s, &s->arrow[i]);

		cnps += roce_opcode_info(k->pkt.bth.opcode)->operation == ROCE_OP_CNP;
		marked += model_arrow_marked(s, &s->arrow[i]);
	}
	if (marked || cnps)
		fprintf(out, "%u packet%s marked (CE), %u congestion notification%s (CNP).\n",
			marked, words_plural(marked), cnps, words_plural(cnps));
}

/* A flight recorder keeps those that failed only; captures of other programs know of none. */
static void print_no_completion(FILE *out, const struct model *s)
{
	if (s->n_records == 0)
		fputs("The capture has no records of a device: completions are unknown.\n", out);
	else if (s->recorder)
		fputs("No completion failed since the flight recorder's oldest record; it keeps no "
		      "successful ones.\n",
		      out);
	else
		fputs("Nothing was completed while this capture ran.\n", out);
}

static void print_none(FILE *out, const struct model *s, const struct explain_options *o,
		       unsigned completions)
{
	if (completions == 0 && o->has_qp && !o->has_wr)
		fprintf(out, "No completion of QP 0x%" PRIx32 " is in this capture.\n", o->qp);
	else if (completions == 0 && !o->has_wr)
		print_no_completion(out, s);
	else if (o->has_wr)
		fprintf(out, "No completion of wr 0x%" PRIx64 " is in this capture.\n", o->wr);
	else
		fprintf(out, "%u completion%s, and none has an error.\n", completions,
			words_plural(completions));
	print_traffic(out, s);
	print_congestion(out, s);
}

unsigned model_explain(FILE *out, const struct model *s, const struct explain_options *o)
{
	unsigned rejects =
		print_rejects(out, s, o) + print_calls(out, s, o) + print_unexecuted(out, s, o);
	unsigned printed = 0, flushed = 0, more = 0, completions = 0;

	for (uint32_t i = 0; i < s->n_moments; i++) {
		const struct model_record *r = record_at(s, i);

		if (!r || !is_wanted(s, r, o))
			continue;
		completions++;
		if (!o->has_wr && model_word_is(r, "status", "SUCCESS"))
			continue;
		if (!o->has_wr && model_word_is(r, "status", "WR_FLUSH_ERR") &&
		    model_first_failure(s, r->qp))
			flushed++;
		else if (printed == EXPLAIN_MAX)
			more++;
		else if (++printed)
			print_completion(out, s, r);
	}
	print_standing(out, s, o);
	if (printed == 0)
		print_none(out, s, o, completions);
	if (flushed)
		fprintf(out,
			"%u more request%s flushed (WR_FLUSH_ERR) after that: not started, and not "
			"the cause.\n",
			flushed, flushed == 1 ? " was" : "s were");
	if (more)
		fprintf(out, "%u more completion%s not shown: choose with --qp and --wr.\n", more,
			more == 1 ? " is" : "s are");
	if (s->cut)
		fprintf(out,
			"%zu frame%s truncated before the end of the headers; their contents are "
			"unknown.\n",
			s->cut, s->cut == 1 ? " is" : "s are");
	if (s->error[0])
		fprintf(out, "The capture is broken here: %s\n", s->error);
	return printed + rejects;
}
