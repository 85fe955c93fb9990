/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the labels of arrows and events of a sequence diagram. */
#include "ladder_label.h"

#include "emu/model/capture/capture_model.h"
#include "emu/model/read/read.h"

#include "wire/cm_msg.h"
#include "wire/mad.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- arrows ---- */

/* Names of the service RC, which nearly all are of, go without it. */
static const char *opcode_name(const struct model_packet *k)
{
	const char *name = roce_opcode_info(k->pkt.bth.opcode)->name;

	return strncmp(name, "RC_", 3) == 0 ? name + 3 : name;
}

/* A message of the connection manager. */
static bool add_cm(struct text *t, const struct model_packet *k)
{
	struct roce_cm_msg msg;

	if (k->pkt.bth.dest_qp != ROCE_GSI_QPN || k->pkt.payload_len < ROCE_MAD_LENGTH ||
	    !roce_cm_parse(k->pkt.payload, &msg) || !roce_cm_name((uint16_t)msg.attr))
		return false;
	text_add(t, "CM %s", roce_cm_name((uint16_t)msg.attr));
	if (msg.attr == ROCE_CM_REJ)
		text_add(t, ", reason %u: %s", msg.rej.reason, model_cm_reason(msg.rej.reason));
	return true;
}

static void add_acknowledge(struct text *t, const struct model_packet *k)
{
	uint8_t syndrome = k->pkt.aeth.syndrome;

	text_add(t, "%s psn %u", roce_syndrome_name(syndrome), k->pkt.bth.psn);
	if (roce_syndrome_kind(syndrome) == ROCE_RNR_NAK)
		text_add(t, ", wait %.2f ms",
			 (double)roce_rnr_timer_ns(roce_syndrome_value(syndrome)) / 1e6);
	else
		text_add(t, ", msn %u", k->pkt.aeth.msn);
}

static void add_details(struct text *t, const struct model_packet *k)
{
	const struct roce_opcode_info *info = roce_opcode_info(k->pkt.bth.opcode);

	if (info->operation == ROCE_OP_READ_REQ)
		text_add(t, ", wants %u B", k->pkt.reth.length);
	else if (info->operation == ROCE_OP_FETCH_ADD)
		text_add(t, ", add %" PRIu64, k->pkt.atomiceth.swap_add);
	else if (info->operation == ROCE_OP_CMP_SWAP)
		text_add(t, ", %" PRIu64 " to %" PRIu64, k->pkt.atomiceth.compare,
			 k->pkt.atomiceth.swap_add);
	else if (info->operation == ROCE_OP_ATOMIC_ACK)
		text_add(t, ", was %" PRIu64, k->pkt.atomic_ack);
	else if (info->headers & ROCE_HDR_PAYLOAD)
		text_add(t, ", %u B", k->pkt.payload_len);
}

void ladder_label(const struct model *s, const struct model_arrow *a, unsigned count, char *buf,
		  size_t cap)
{
	const struct model_packet *k = model_arrow_packet(s, a);
	const char *mark = model_arrow_marked(s, a) ? " CE" : "";
	struct text t = text_in(buf, cap);

	if (roce_opcode_info(k->pkt.bth.opcode)->operation == ROCE_OP_ACK) {
		add_acknowledge(&t, k);
		return;
	}
	if (roce_opcode_info(k->pkt.bth.opcode)->operation == ROCE_OP_CNP) {
		if (count > 1)
			text_add(&t, "%u x ", count);
		text_add(&t, "CNP: congestion notification");
		return;
	}
	if (add_cm(&t, k))
		return;
	if (count > 1) {
		text_add(&t, "%u x %s%s psn %u..%u", count, opcode_name(k), mark, k->pkt.bth.psn,
			 psn_add(k->pkt.bth.psn, count - 1));
	} else {
		text_add(&t, "%s%s psn %u", opcode_name(k), mark, k->pkt.bth.psn);
		add_details(&t, k);
	}
}

static void add_rule(struct text *t, uint32_t rule, const char *text)
{
	if (rule)
		text_add(t, "rule %u: %s", rule, text ? text : "?");
}

static void separate(struct text *t)
{
	if (t->used > 0)
		text_add(t, "; ");
}

/* The memory that a request names: of its first packet, when it goes first. */
static void add_target(struct text *t, const struct model_arrow *a, const struct model_packet *k)
{
	uint32_t headers = roce_opcode_info(k->pkt.bth.opcode)->headers;
	bool atomic = headers & ROCE_HDR_ATOMICETH;

	if (a->tries > 0 || a->copy || !(headers & (ROCE_HDR_RETH | ROCE_HDR_ATOMICETH)))
		return;
	separate(t);
	text_add(t, "key 0x%" PRIx32 ", address 0x%" PRIx64,
		 atomic ? k->pkt.atomiceth.rkey : k->pkt.reth.rkey,
		 atomic ? k->pkt.atomiceth.va : k->pkt.reth.va);
}

void ladder_arrow_note(const struct model *s, const struct model_arrow *a, char *buf, size_t cap)
{
	const struct model_packet *k = model_arrow_packet(s, a);
	struct text t = text_in(buf, cap);
	const char *text;
	uint32_t rule = model_arrow_rule(s, a, &text);
	char words[MODEL_CAUSE_MAX];

	if (a->tries > 0 && !a->copy)
		text_add(&t, "sent again (%u)", a->tries);
	if (model_arrow_words(s, a, words, sizeof(words))[0]) {
		separate(&t);
		text_add(&t, "%s", words);
	}
	if (k->made) {
		separate(&t);
		text_add(&t, "made by a rule, not sent by a device");
	}
	if (rule) {
		separate(&t);
		add_rule(&t, rule, text);
	}
	if (a->copy) {
		separate(&t);
		text_add(&t, "it arrives once more");
	}
	add_target(&t, a, k);
	if (a->implied_nak) {
		separate(&t);
		text_add(&t, "implied NAK: an answer before it is missing");
	}
}

/* ---- records ---- */

static const char *word(const struct model_record *r, const char *name)
{
	return model_word_or(r, name, "?");
}

static void add_completion(struct text *t, const struct model *s, const struct model_record *r,
			   unsigned count)
{
	char why[MODEL_WHY_MAX];
	const char *status = word(r, "status");

	bool good = strcmp(status, "SUCCESS") == 0;

	if (count > 1)
		text_add(t, "%u requests complete: %s", count, status);
	else if (good)
		text_add(t, "%s wr %s is done, %s B", word(r, "opcode"), word(r, "wr"),
			 word(r, "length"));
	else
		text_add(t, "%s wr %s fails: %s%s%s", word(r, "opcode"), word(r, "wr"), status,
			 model_why(s, r, why, sizeof(why))[0] ? ": " : "", why);
}

static void add_retry(struct text *t, const struct model_record *r)
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
	text_add(t, "%s: again from psn %s, %s tries left", why, word(r, "psn"), word(r, "left"));
}

static void add_event(struct text *t, const struct model_record *r)
{
	text_add(t, "event %s", word(r, "type"));
	if (model_word(r, "cq"))
		text_add(t, " of CQ %s", word(r, "cq"));
	if (model_word(r, "srq"))
		text_add(t, " of SRQ %s", word(r, "srq"));
}

static void add_hit(struct text *t, const struct model_record *r)
{
	const char *layer = word(r, "layer");

	/* Of packets the arrow itself tells. */
	if (strcmp(layer, "packet") == 0)
		return;
	text_add(t, "rule %s fires (%s)", word(r, "rule"), layer);
	if (model_word(r, "what"))
		text_add(t, ": %s", word(r, "what"));
}

/* All words behind the program are kinds of objects. */
static void add_leak(struct text *t, const struct model_record *r)
{
	text_add(t, "%s ended without destroying", word(r, "program"));
	for (unsigned i = 0; i < r->n; i++)
		if (r->word[i].value && strcmp(r->word[i].name, "program") != 0 &&
		    strcmp(r->word[i].name, "dev") != 0)
			text_add(t, " %s %s", r->word[i].value, r->word[i].name);
}

void ladder_record_note(const struct model *s, const struct model_record *r, unsigned count,
			char *buf, size_t cap)
{
	struct text t = text_in(buf, cap);
	char words[MODEL_STANDING_MAX];

	switch (r->kind) {
	case MODEL_STATE:
		text_add(&t, "state %s to %s", word(r, "from"), word(r, "to"));
		break;
	case MODEL_COMPLETION:
		add_completion(&t, s, r, count);
		break;
	case MODEL_RETRY:
		add_retry(&t, r);
		break;
	case MODEL_EVENT:
		add_event(&t, r);
		break;
	case MODEL_CALL:
		text_add(&t, "%s", model_call_text(r, words, sizeof(words)));
		break;
	case MODEL_LEAK:
		add_leak(&t, r);
		break;
	case MODEL_RULE:
		text_add(&t, "rule %s %s: %s", word(r, "number"), word(r, "what"), word(r, "text"));
		break;
	case MODEL_HIT:
		add_hit(&t, r);
		break;
	case MODEL_NOTE:
		text_add(&t, "%s", word(r, "text"));
		break;
	case MODEL_STANDS:
		if (model_word(r, "cq"))
			text_add(&t, "CQ %s: ", word(r, "cq"));
		text_add(&t, "%s", model_standing_text(r, words, sizeof(words)));
		break;
	case MODEL_UNREACHABLE:
		text_add(&t, "no device is at %s: its UDP port %s is closed", word(r, "address"),
			 word(r, "port"));
		break;
	case MODEL_RECORDER:
	case MODEL_REQUEST:
	case MODEL_NAK: /* its packet is there */
	case MODEL_COUNTERS:
	case MODEL_REGION:
	case MODEL_OTHER:
		break;
	}
}
