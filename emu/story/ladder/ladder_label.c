/* SPDX-License-Identifier: BSD-2-Clause */
/* See ladder_label.h. */
#include "ladder_label.h"

#include "emu/story/tale/tale.h"

#include "wire/cm_msg.h"
#include "wire/mad.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text that grows at its end, and stops where there is no room. */
struct text {
	char *buf;
	size_t cap;
	size_t used;
};

static struct text text_in(char *buf, size_t cap)
{
	buf[0] = '\0';
	return (struct text){buf, cap, 0};
}

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->buf + t->used, t->cap - t->used, format, ap);
	va_end(ap);
	if (n > 0)
		t->used += (size_t)n < t->cap - t->used ? (size_t)n : t->cap - t->used - 1;
}

/* ---- arrows ---- */

/* Names of the service RC, which nearly all are of, go without it. */
static const char *opcode_name(const struct story_packet *k)
{
	const char *name = roce_opcode_info(k->pkt.bth.opcode)->name;

	return strncmp(name, "RC_", 3) == 0 ? name + 3 : name;
}

/* A message of the connection manager. */
static bool add_cm(struct text *t, const struct story_packet *k)
{
	struct roce_cm_msg msg;

	if (k->pkt.bth.dest_qp != ROCE_GSI_QPN || k->pkt.payload_len < ROCE_MAD_LENGTH ||
	    !roce_cm_parse(k->pkt.payload, &msg) || !roce_cm_name((uint16_t)msg.attr))
		return false;
	add(t, "CM %s", roce_cm_name((uint16_t)msg.attr));
	if (msg.attr == ROCE_CM_REJ)
		add(t, ", reason %u: %s", msg.rej.reason, story_cm_reason(msg.rej.reason));
	return true;
}

static void add_acknowledge(struct text *t, const struct story_packet *k)
{
	uint8_t syndrome = k->pkt.aeth.syndrome;

	add(t, "%s psn %u", roce_syndrome_name(syndrome), k->pkt.bth.psn);
	if (roce_syndrome_kind(syndrome) == ROCE_RNR_NAK)
		add(t, ", wait %.2f ms",
		    (double)roce_rnr_timer_ns(roce_syndrome_value(syndrome)) / 1e6);
	else
		add(t, ", msn %u", k->pkt.aeth.msn);
}

static void add_details(struct text *t, const struct story_packet *k)
{
	const struct roce_opcode_info *info = roce_opcode_info(k->pkt.bth.opcode);

	if (info->operation == ROCE_OP_READ_REQ)
		add(t, ", wants %u B", k->pkt.reth.length);
	else if (info->operation == ROCE_OP_FETCH_ADD)
		add(t, ", add %" PRIu64, k->pkt.atomiceth.swap_add);
	else if (info->operation == ROCE_OP_CMP_SWAP)
		add(t, ", %" PRIu64 " to %" PRIu64, k->pkt.atomiceth.compare,
		    k->pkt.atomiceth.swap_add);
	else if (info->operation == ROCE_OP_ATOMIC_ACK)
		add(t, ", was %" PRIu64, k->pkt.atomic_ack);
	else if (info->headers & ROCE_HDR_PAYLOAD)
		add(t, ", %u B", k->pkt.payload_len);
}

void ladder_label(const struct story *s, const struct story_arrow *a, unsigned count, char *buf,
		  size_t cap)
{
	const struct story_packet *k = story_arrow_packet(s, a);
	struct text t = text_in(buf, cap);

	if (roce_opcode_info(k->pkt.bth.opcode)->operation == ROCE_OP_ACK) {
		add_acknowledge(&t, k);
		return;
	}
	if (add_cm(&t, k))
		return;
	if (count > 1) {
		add(&t, "%u x %s psn %u..%u", count, opcode_name(k), k->pkt.bth.psn,
		    psn_add(k->pkt.bth.psn, count - 1));
	} else {
		add(&t, "%s psn %u", opcode_name(k), k->pkt.bth.psn);
		add_details(&t, k);
	}
	if (k->flow.tclass % 4 == 3)
		add(&t, ", CE");
}

/* What the drop counters' names mean. */
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
		{"duplicate", "a duplicate of what is forgotten"},
		{"response", "it answers nothing that is outstanding"},
		{"no_recv", "no receive request"},
		{"length", "too long"},
		{"port", "the port is down"},
		{"bad_icrc", "its ICRC is wrong"},
		{"malformed", "it makes no sense"},
		{"no_route", "nobody has this address"},
		{"step", "taken off the wire in step mode"},
	};

	for (size_t i = 0; i < sizeof(drop) / sizeof(drop[0]); i++)
		if (strcmp(drop[i].name, name) == 0)
			return drop[i].words;
	return name;
}

static void add_rule(struct text *t, uint32_t rule, const char *text)
{
	if (rule)
		add(t, "rule %u: %s", rule, text ? text : "?");
}

static void add_fate(struct text *t, const struct story *s, const struct story_arrow *a)
{
	const char *dropped = story_arrow_dropped(s, a);

	switch (a->fate) {
	case STORY_DROPPED:
	case STORY_REFUSED:
		if (strcmp(dropped, "rule") == 0)
			add(t, "lost");
		else if (a->fate == STORY_DROPPED)
			add(t, "lost: %s", drop_words(dropped));
		else
			add(t, "not taken: %s", drop_words(dropped));
		break;
	case STORY_MISSING:
		add(t, "it never arrived");
		break;
	case STORY_ARRIVED:
	case STORY_SEEN:
		break;
	}
}

static void separate(struct text *t)
{
	if (t->used > 0)
		add(t, "; ");
}

void ladder_arrow_note(const struct story *s, const struct story_arrow *a, char *buf, size_t cap)
{
	const struct story_packet *k = story_arrow_packet(s, a);
	struct text t = text_in(buf, cap);
	const char *text;
	uint32_t rule = story_arrow_rule(s, a, &text);

	add_fate(&t, s, a);
	if (k->made) {
		separate(&t);
		add(&t, "made by a rule, no device sent it");
	}
	if (rule) {
		separate(&t);
		add_rule(&t, rule, text);
	}
	if (a->copy) {
		separate(&t);
		add(&t, "it arrives once more");
	}
	if (a->tries > 0 && !a->copy) {
		separate(&t);
		add(&t, "sent again (%u)", a->tries);
	}
	if (a->implied_nak) {
		separate(&t);
		add(&t, "implied NAK: an answer before it is missing");
	}
}

/* ---- records ---- */

static const char *word(const struct story_record *r, const char *name)
{
	const char *value = story_word(r, name);

	return value ? value : "?";
}

static void add_completion(struct text *t, const struct story_record *r, unsigned count)
{
	const char *status = word(r, "status");

	bool good = strcmp(status, "SUCCESS") == 0;

	if (count > 1)
		add(t, "%u requests complete: %s", count, status);
	else if (good)
		add(t, "%s wr %s is done, %s B", word(r, "opcode"), word(r, "wr"),
		    word(r, "length"));
	else
		add(t, "%s wr %s fails: %s", word(r, "opcode"), word(r, "wr"), status);
}

static void add_retry(struct text *t, const struct story_record *r)
{
	static const struct {
		const char *why, *words;
	} reason[] = {
		{"timeout", "timeout, no answer came"},
		{"nak", "NAK"},
		{"gap", "an answer is missing (implied NAK)"},
		{"rnr", "RNR NAK, after a pause"},
	};
	const char *why = word(r, "why");

	for (size_t i = 0; i < sizeof(reason) / sizeof(reason[0]); i++)
		if (strcmp(reason[i].why, why) == 0)
			why = reason[i].words;
	add(t, "%s: again from psn %s, %s tries left", why, word(r, "psn"), word(r, "left"));
}

static void add_event(struct text *t, const struct story_record *r)
{
	add(t, "event %s", word(r, "type"));
	if (story_word(r, "cq"))
		add(t, " of CQ %s", word(r, "cq"));
	if (story_word(r, "srq"))
		add(t, " of SRQ %s", word(r, "srq"));
}

static void add_hit(struct text *t, const struct story_record *r)
{
	const char *layer = word(r, "layer");

	/* Of packets the arrow itself tells. */
	if (strcmp(layer, "packet") == 0)
		return;
	add(t, "rule %s fires (%s)", word(r, "rule"), layer);
	if (story_word(r, "what"))
		add(t, ": %s", word(r, "what"));
}

/* All words behind the program are kinds of objects. */
static void add_leak(struct text *t, const struct story_record *r)
{
	add(t, "%s went without destroying", word(r, "program"));
	for (unsigned i = 0; i < r->n; i++)
		if (r->word[i].value && strcmp(r->word[i].name, "program") != 0 &&
		    strcmp(r->word[i].name, "dev") != 0)
			add(t, " %s %s", r->word[i].value, r->word[i].name);
}

void ladder_record_note(const struct story_record *r, unsigned count, char *buf, size_t cap)
{
	struct text t = text_in(buf, cap);

	switch (r->kind) {
	case STORY_STATE:
		add(&t, "state %s to %s", word(r, "from"), word(r, "to"));
		break;
	case STORY_COMPLETION:
		add_completion(&t, r, count);
		break;
	case STORY_RETRY:
		add_retry(&t, r);
		break;
	case STORY_EVENT:
		add_event(&t, r);
		break;
	case STORY_CALL:
		add(&t, "%s: %s", word(r, "verb"), word(r, "status"));
		break;
	case STORY_LEAK:
		add_leak(&t, r);
		break;
	case STORY_RULE:
		add(&t, "rule %s %s: %s", word(r, "number"), word(r, "what"), word(r, "text"));
		break;
	case STORY_HIT:
		add_hit(&t, r);
		break;
	case STORY_NOTE:
		add(&t, "%s", word(r, "text"));
		break;
	case STORY_NAK: /* its packet is there */
	case STORY_COUNTERS:
	case STORY_REGION:
	case STORY_OTHER:
		break;
	}
}
