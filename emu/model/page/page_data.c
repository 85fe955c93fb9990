/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The JSON of the page (page_data.h). Arrows are by far the most, and so they are lists of values;
 * web/trace.js names their places.
 */
#include "page_data.h"

#include "emu/model/capture/capture_model.h"
#include "emu/model/ladder/ladders.h"
#include "page_columns.h"
#include "page_outcome.h"

#include <inttypes.h>
#include <stdlib.h>

#define PAYLOAD_SHOWN 64u
#define WHY_MAX       100u

/* ---- values ---- */

static void put_index(FILE *out, uint32_t i)
{
	if (i == MODEL_NONE)
		fputs("null", out);
	else
		fprintf(out, "%" PRIu32, i);
}

static void put_time(FILE *out, const struct model *s, uint64_t ns)
{
	if (ns < s->began)
		fputs("null", out);
	else
		fprintf(out, "%" PRIu64, ns - s->began);
}

/* What stands between two of a list. */
static void put_comma(FILE *out, uint32_t i)
{
	fputs(i ? ",\n" : "", out);
}

static void put_member(FILE *out, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	fprintf(out, ",\"%s\":", name);
	markup_json(out, text);
}

/* ---- hosts and QPs ---- */

static void put_hosts(FILE *out, const struct model *s)
{
	fputs(",\"hosts\":[", out);
	for (uint32_t i = 0; i < s->n_hosts; i++) {
		put_comma(out, i);
		fprintf(out, "{\"ours\":%s,\"name\":", s->host[i].ours ? "true" : "false");
		markup_json(out, s->host[i].name);
		fputc('}', out);
	}
	fputs("]\n", out);
}

static void put_qps(FILE *out, const struct model *s)
{
	static const char *const service[] = {"RC", "UC", "RD", "UD", "CNP", "XRC"};

	fputs(",\"qps\":[", out);
	for (uint32_t i = 0; i < s->n_qps; i++) {
		const struct model_qp *q = &s->qp[i];

		put_comma(out, i);
		fprintf(out, "{\"host\":%" PRIu32 ",\"number\":", q->host);
		put_index(out, q->number);
		fputs(",\"peer\":", out);
		put_index(out, q->peer);
		put_member(out, "program", q->program);
		if (q->has_service && (size_t)q->service < sizeof(service) / sizeof(service[0]))
			put_member(out, "service", service[q->service]);
		fputc('}', out);
	}
	fputs("]\n", out);
}

/* ---- opcodes and statuses ---- */

/* Names and headers (enum roce_header) of all opcodes, so that the page can take packets apart. */
static void put_opcodes(FILE *out)
{
	bool first = true;

	fputs(",\"opcodes\":{", out);
	for (unsigned i = 0; i < 256; i++) {
		const struct roce_opcode_info *info = &roce_opcode_table[i];

		if (!info->name)
			continue;
		fprintf(out, "%s\"%u\":[\"%s\",%" PRIu32 ",%d,%d]", first ? "" : ",", i, info->name,
			info->headers, (int)info->operation, (int)info->position);
		first = false;
	}
	fputs("}\n", out);
}

static void put_statuses(FILE *out)
{
	const struct model_status *st;

	fputs(",\"statuses\":{", out);
	for (uint8_t i = 0; (st = model_status_at(i)) != NULL; i++) {
		put_comma(out, i);
		fprintf(out, "\"%s\":{\"value\":%u", st->name, st->value);
		put_member(out, "meaning", st->meaning);
		put_member(out, "clause", st->clause);
		put_member(out, "check", st->check);
		fputc('}', out);
	}
	fputs("}\n", out);
}

/* ---- arrows ---- */

/* The words of a comment, as far as there are any. */
static void put_comment(FILE *out, const struct model *s, uint32_t packet)
{
	const struct model_packet *k = packet == MODEL_NONE ? NULL : &s->packet[packet];

	if (!k) {
		fputs("null", out);
		return;
	}
	fprintf(out, "{\"bytes\":%" PRIu32, k->original);
	if (k->has_wr)
		fprintf(out, ",\"wr\":\"0x%" PRIx64 "\"", k->wr);
	if (k->has_sender)
		fprintf(out, ",\"qp\":\"0x%" PRIx32 "\"", k->sender);
	if (k->parts)
		fprintf(out, ",\"part\":\"%" PRIu32 "/%" PRIu32 "\"", k->part, k->parts);
	if (k->tries)
		fprintf(out, ",\"try\":%" PRIu32, k->tries);
	if (k->rule)
		fprintf(out, ",\"rule\":%" PRIu32, k->rule);
	put_member(out, "op", k->op);
	put_member(out, "fault", k->fault);
	put_member(out, "made", k->made);
	put_member(out, "dropped", k->dropped);
	fputc('}', out);
}

/* IP, UDP and all headers of the transport, as they are on the wire. */
static void put_headers(FILE *out, const struct model_packet *k)
{
	uint8_t bytes[ROCE_IPV6_LENGTH + ROCE_UDP_LENGTH + ROCE_MAX_HEADER_LENGTH];
	size_t length = roce_header_length(k->pkt.bth.opcode);
	size_t n = roce_udpip_emit(&k->flow, 0,
				   length + k->pkt.payload_len + k->pkt.bth.pad + ROCE_ICRC_LENGTH,
				   bytes);

	n += roce_packet_emit_headers(&k->pkt, bytes + n, sizeof(bytes) - n);
	markup_json_hex(out, bytes, n);
}

static void put_payload(FILE *out, const struct model_packet *k)
{
	const size_t tail = (size_t)ROCE_ICRC_LENGTH + k->pkt.bth.pad;
	size_t n = k->pkt.payload_len, cut = 0;

	/* A snapped packet has less of it than its headers tell; the end goes first. */
	if (k->captured < k->original)
		cut = k->original - k->captured;
	cut -= cut < tail ? cut : tail;
	n -= cut < n ? cut : n;
	markup_json_hex(out, k->pkt.payload, n < PAYLOAD_SHOWN ? n : PAYLOAD_SHOWN);
}

void page_data_arrow(FILE *out, const struct model *s, uint32_t index)
{
	const struct model_arrow *a = &s->arrow[index];
	const struct model_packet *k = model_arrow_packet(s, a);
	const char *text;
	char words[600];

	fputc('[', out);
	put_time(out, s, a->sent);
	fputc(',', out);
	put_time(out, s, a->arrived);
	fprintf(out, ",%" PRIu32 ",%" PRIu32 ",", a->from, a->to);
	put_index(out, a->message);
	fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%d,%d,", a->tries, model_arrow_rule(s, a, &text),
		(int)a->fate, a->answer | a->copy << 1 | a->implied_nak << 2 | !!k->made << 3);
	ladder_label(s, a, 1, words, sizeof(words));
	markup_json(out, words);
	fputc(',', out);
	ladder_arrow_note(s, a, words, sizeof(words));
	markup_json(out, words);
	fputc(',', out);
	put_headers(out, k);
	fputc(',', out);
	put_payload(out, k);
	fprintf(out, ",%" PRIu32 ",", k->pkt.payload_len);
	put_comment(out, s, a->out);
	fputc(',', out);
	put_comment(out, s, a->in);
	fputc(']', out);
}

/* ---- messages ---- */

void page_data_message(FILE *out, const struct model *s, uint32_t index)
{
	const struct model_message *m = &s->message[index];

	fprintf(out, "{\"from\":%" PRIu32 ",\"to\":%" PRIu32 ",\"psn\":%" PRIu32, m->from, m->to,
		m->first_psn);
	fprintf(out, ",\"psns\":%" PRIu32 ",\"bytes\":%" PRIu32 ",\"tries\":%" PRIu32, m->psns,
		m->bytes, m->tries);
	put_member(out, "op", m->op ? m->op : roce_opcode_info(m->opcode)->name);
	if (m->has_wr)
		fprintf(out, ",\"wr\":\"0x%" PRIx64 "\"", m->wr);
	if (m->va || m->rkey)
		fprintf(out, ",\"va\":\"0x%" PRIx64 "\",\"rkey\":\"0x%" PRIx32 "\"", m->va,
			m->rkey);
	fprintf(out, ",\"arrow\":%" PRIu32 ",\"completion\":", m->first_arrow);
	put_index(out, m->completion);
	fputs(",\"began\":", out);
	put_time(out, s, m->began);
	fputs(",\"answered\":", out);
	put_time(out, s, m->answered);
	fputc('}', out);
}

/* ---- records ---- */

void page_data_record(FILE *out, const struct model *s, uint32_t index)
{
	const struct model_record *r = &s->record[index];
	char words[600];

	fputs("{\"ns\":", out);
	put_time(out, s, r->ns);
	put_member(out, "kind", r->name);
	fputs(",\"host\":", out);
	put_index(out, r->host);
	fputs(",\"qp\":", out);
	put_index(out, r->qp);
	fputs(",\"message\":", out);
	put_index(out, r->message);
	ladder_record_note(s, r, 1, words, sizeof(words));
	put_member(out, "note", words);
	fputs(",\"words\":[", out);
	for (unsigned i = 0; i < r->n; i++) {
		fputs(i ? ",[" : "[", out);
		markup_json(out, r->word[i].name);
		fputc(',', out);
		markup_json(out, r->word[i].value);
		fputc(']', out);
	}
	fputs("]}", out);
}

/* ---- in words ---- */

struct sentences {
	FILE *out;
	uint32_t n;
};

static void put_sentence(void *arg, enum page_mood mood, const char *text)
{
	static const char *const name[] = {"bad", "good", "plain"};
	struct sentences *to = arg;

	put_comma(to->out, to->n++);
	fprintf(to->out, "{\"mood\":\"%s\",\"text\":", name[mood]);
	markup_json(to->out, text);
	fputc('}', to->out);
}

/* What there is of it when there is no memory is right as well. */
static void put_outcome(FILE *out, const struct model *s)
{
	struct sentences to = {out, 0};

	fputs(",\"outcome\":[", out);
	page_outcome(s, put_sentence, &to);
	fputs("]\n", out);
}

/* The packet that decided a completion, or its request's first. */
static uint32_t arrow_of(const struct model *s, const struct model_record *r)
{
	struct model_counts counts;

	if (r->message == MODEL_NONE)
		return MODEL_NONE;
	model_count_for(s, r, &counts);
	return counts.decisive != MODEL_NONE ? counts.decisive : s->message[r->message].first_arrow;
}

static void put_reason(FILE *out, const struct model *s, uint32_t record)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f) {
		model_explain_shortly(f, s, &s->record[record]);
		fclose(f);
	}
	fprintf(out, "{\"record\":%" PRIu32 ",\"arrow\":", record);
	put_index(out, arrow_of(s, &s->record[record]));
	put_member(out, "status", model_word(&s->record[record], "status"));
	put_member(out, "text", text);
	fputc('}', out);
	free(text);
}

/* Completions that failed; those that were flushed for another come last. */
static void put_why(FILE *out, const struct model *s)
{
	uint32_t n = 0;

	fputs(",\"why\":[", out);
	for (int flushed = 0; flushed < 2; flushed++)
		for (uint32_t i = 0; i < s->n_records && n < WHY_MAX; i++) {
			const struct model_record *r = &s->record[i];

			if (!model_is_failure(r) ||
			    model_word_is(r, "status", "WR_FLUSH_ERR") != flushed)
				continue;
			put_comma(out, n++);
			put_reason(out, s, i);
		}
	fputs("]\n", out);
}

/* ---- the whole ---- */

void page_data_head(FILE *out, const struct model *s)
{
	fprintf(out, "{\"began\":\"%" PRIu64 "\",\"length\":", s->began);
	put_time(out, s, s->ended);
	fprintf(out,
		",\"recorder\":%s,\"forgotten\":%s,\"others\":%zu,\"truncated\":%zu,\"error\":",
		s->recorder ? "true" : "false", model_has_forgotten(s) ? "true" : "false",
		s->others, s->cut);
	markup_json(out, s->error);
	put_hosts(out, s);
	put_qps(out, s);
	put_opcodes(out);
	put_statuses(out);
	put_outcome(out, s);
	put_why(out, s);
	fprintf(out,
		",\"arrows_in_all\":%" PRIu32 ",\"messages_in_all\":%" PRIu32
		",\"records_in_all\":%" PRIu32 "\n",
		s->n_arrows, s->n_messages, s->n_records);
}

static void put_list(FILE *out, const struct model *s, const char *name, uint32_t n,
		     void (*put)(FILE *out, const struct model *s, uint32_t index))
{
	fprintf(out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(out, i);
		put(out, s, i);
	}
	fputs("]\n", out);
}

static uint32_t at_most(uint32_t n, uint32_t most)
{
	return n < most ? n : most;
}

void page_data(FILE *out, const struct model *s, uint32_t most)
{
	page_data_head(out, s);
	put_list(out, s, "arrows", at_most(s->n_arrows, most), page_data_arrow);
	put_list(out, s, "messages", at_most(s->n_messages, most), page_data_message);
	put_list(out, s, "records", at_most(s->n_records, most), page_data_record);
	fputs("}\n", out);
}

static void put_arrow_hex(FILE *out, const struct model *s, uint32_t index)
{
	uint8_t row[PAGE_ARROW_BYTES];

	page_arrow_row(s, index, row);
	markup_json_hex(out, row, sizeof(row));
}

static void put_record_hex(FILE *out, const struct model *s, uint32_t index)
{
	uint8_t row[PAGE_RECORD_BYTES];

	page_record_row(s, index, row);
	markup_json_hex(out, row, sizeof(row));
}

void page_data_columns(FILE *out, const struct model *s, uint32_t most)
{
	fputs("{\"version\":1", out);
	put_list(out, s, "arrows", at_most(s->n_arrows, most), put_arrow_hex);
	put_list(out, s, "records", at_most(s->n_records, most), put_record_hex);
	fputs("}\n", out);
}
