/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of fixed size of a model (page_columns.h). */
#include "page_columns.h"

#include "emu/model/ladder/ladders.h"

#include <string.h>

#define NOT_TOLD 255u

/* ---- values ---- */

static uint8_t *put_u32(uint8_t *at, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		*at++ = (uint8_t)(v >> 8 * i);
	return at;
}

static uint8_t *put_bytes(uint8_t *at, unsigned a, unsigned b, unsigned c, unsigned d)
{
	return put_u32(at, (a & 255) | (b & 255) << 8 | (c & 255) << 16 | d << 24);
}

/* As the 64 bits of IEEE 754. */
static uint8_t *put_f64(uint8_t *at, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	at = put_u32(at, (uint32_t)bits);
	return put_u32(at, (uint32_t)(bits >> 32));
}

static double time_of(const struct model *s, uint64_t ns)
{
	return ns < s->began ? -1 : (double)(ns - s->began);
}

static unsigned at_most(uint32_t v, unsigned most)
{
	return v > most ? most : v;
}

/* ---- arrows ---- */

static unsigned flags_of(const struct model *s, const struct model_arrow *a,
			 const struct model_packet *k)
{
	return (a->answer ? PAGE_ARROW_ANSWER : 0u) | (a->copy ? PAGE_ARROW_COPY : 0u) |
	       (a->implied_nak ? PAGE_ARROW_IMPLIED_NAK : 0u) | (k->made ? PAGE_ARROW_MADE : 0u) |
	       (model_arrow_judged(s, a) ? PAGE_ARROW_JUDGED : 0u);
}

void page_arrow_row(const struct model *s, uint32_t index, uint8_t out[PAGE_ARROW_BYTES])
{
	const struct model_arrow *a = &s->arrow[index];
	const struct model_packet *k = model_arrow_packet(s, a);
	bool has_aeth = roce_opcode_info(k->pkt.bth.opcode)->headers & ROCE_HDR_AETH;
	const char *text;
	uint8_t *at = out;

	at = put_f64(at, time_of(s, a->sent));
	at = put_f64(at, a->arrived ? time_of(s, a->arrived) : -1);
	at = put_u32(at, a->from);
	at = put_u32(at, a->to);
	at = put_u32(at, a->message);
	at = put_u32(at, k->pkt.bth.psn);
	at = put_u32(at, k->pkt.payload_len);
	at = put_u32(at, model_arrow_rule(s, a, &text));
	at = put_bytes(at, k->pkt.bth.opcode.v, (unsigned)a->fate, flags_of(s, a, k),
		       at_most(a->tries, 255));
	put_u32(at, has_aeth ? k->pkt.aeth.syndrome | (k->pkt.aeth.msn & 0xffffff) << 8 : NOT_TOLD);
}

/* ---- records ---- */

static bool is_good_event(const struct model_record *r)
{
	static const char *const good[] = {"COMM_EST", "PORT_ACTIVE", "SQ_DRAINED",
					   "QP_LAST_WQE_REACHED", "CLIENT_REREGISTER"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (model_word_is(r, "type", good[i]))
			return true;
	return false;
}

/* Something that does not belong to a life without trouble. */
static bool is_trouble(const struct model_record *r)
{
	switch (r->kind) {
	case MODEL_RETRY:
	case MODEL_CALL:
	case MODEL_HIT:
	case MODEL_LEAK:
	case MODEL_UNREACHABLE:
		return true;
	case MODEL_EVENT:
		return !is_good_event(r);
	case MODEL_STATE:
		return model_is_error_state(r);
	case MODEL_COMPLETION:
		return model_is_failure(r);
	case MODEL_NAK:
	case MODEL_RULE:
	case MODEL_COUNTERS:
	case MODEL_REGION:
	case MODEL_NOTE:
	case MODEL_STANDS:
	case MODEL_RECORDER:
	case MODEL_REQUEST:
	case MODEL_OTHER:
		return false;
	}
	return false;
}

static unsigned state_of(const struct model_record *r, const char *name)
{
	static const char *const state[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
	const char *word = model_word(r, name);

	for (unsigned i = 0; word && i < sizeof(state) / sizeof(state[0]); i++)
		if (strcmp(word, state[i]) == 0)
			return i;
	return NOT_TOLD;
}

static unsigned status_of(const struct model_record *r)
{
	const char *word = model_word(r, "status");
	const struct model_status *st = word ? model_status_find(word) : NULL;

	return st ? st->value : NOT_TOLD;
}

void page_record_row(const struct model *s, uint32_t index, uint8_t out[PAGE_RECORD_BYTES])
{
	const struct model_record *r = &s->record[index];
	unsigned a = NOT_TOLD, b = NOT_TOLD, flags;
	uint8_t *at = out;
	char words[600];

	if (r->kind == MODEL_STATE) {
		a = state_of(r, "from");
		b = state_of(r, "to");
	} else if (r->kind == MODEL_COMPLETION) {
		a = status_of(r);
	}
	ladder_record_note(s, r, 1, words, sizeof(words));
	flags = (is_trouble(r) ? PAGE_RECORD_TROUBLE : 0u) | (words[0] ? PAGE_RECORD_SHOWN : 0u);
	at = put_f64(at, time_of(s, r->ns));
	at = put_u32(at, r->host);
	at = put_u32(at, r->qp);
	at = put_u32(at, r->message);
	at = put_bytes(at, (unsigned)r->kind, flags, a, b);
	at = put_u32(at, 0);
	put_u32(at, 0);
}
