/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes and reads the lines of a fault trace. */
#include "plan_trace.h"

#include "emu/fault/rule/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A line that is being written; what does not fit is left out, word by word. */
struct line {
	char *buf;
	size_t used;
};

static char *trace_append(char *p, const char *from, size_t n)
{
	memcpy(p, from, n);
	return p + n;
}

/* With a backslash before each quote and each backslash; the end of it. */
static char *put_escaped(char *p, const char *value)
{
	while (*value) {
		const size_t plain = strcspn(value, "\"\\");

		p = trace_append(p, value, plain);
		value += plain;
		if (*value) {
			*p++ = '\\';
			*p++ = *value++;
		}
	}
	return p;
}

static void put_text(struct line *l, const char *name, const char *value)
{
	const bool quoted = !*value || value[strcspn(value, " \t\"")];
	const size_t n = strlen(name), length = strlen(value);
	char *p = l->buf + l->used;
	size_t need = n + length + 4; /* space, =, quotes */

	for (const char *c = value; quoted && *(c += strcspn(c, "\"\\")); c++)
		need++;
	if (l->used + need >= FAULT_TRACE_MAX)
		return;
	*p++ = ' ';
	p = trace_append(p, name, n);
	*p++ = '=';
	if (quoted) {
		*p++ = '"';
		p = put_escaped(p, value);
		*p++ = '"';
	} else {
		p = trace_append(p, value, length);
	}
	*p = '\0';
	l->used = (size_t)(p - l->buf);
}

static void put_number(struct line *l, const char *name, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put_text(l, name, digits);
}

static void put_hex(struct line *l, const char *name, uint64_t value)
{
	char digits[24];

	if (!value)
		return;
	snprintf(digits, sizeof(digits), "0x%" PRIx64, value);
	put_text(l, name, digits);
}

static void begin(struct line *l, const char *what, char *buf, uint64_t now)
{
	l->buf = buf;
	l->used = (size_t)sprintf(buf, "%s", what);
	put_number(l, "time", now);
}

size_t fault_trace_plan(const struct fault_plan *p, uint64_t now, char *buf)
{
	struct line l;

	begin(&l, "plan", buf, now);
	put_number(&l, "seed", fault_plan_seed(p));
	return l.used;
}

size_t fault_trace_rule(const struct fault_entry *e, const char *what, uint64_t now, char *buf)
{
	struct line l;

	begin(&l, "rule", buf, now);
	put_number(&l, "number", e->number);
	put_text(&l, "what", what);
	put_text(&l, "text", e->rule.text);
	return l.used;
}

static void put_packet(struct line *l, const struct fault_subject *s)
{
	const struct roce_opcode_info *info = roce_opcode_info(s->pkt->bth.opcode);

	put_text(l, "dir", s->direction == FAULT_TX ? "tx" : "rx");
	put_hex(l, "qp", s->qpn);
	put_number(l, "psn", s->pkt->bth.psn);
	if (info->name)
		put_text(l, "op", info->name);
	if (s->retry)
		put_number(l, "retry", 1);
}

static void put_other(struct line *l, const struct fault_subject *s)
{
	const char *status = fault_constant_name(&fault_wc_statuses, s->wc_status);

	if (s->program)
		put_text(l, "program", s->program);
	if (s->client)
		put_number(l, "client", s->client);
	put_hex(l, "qp", s->qpn);
	put_hex(l, "cq", s->cq);
	if (s->layer == FAULT_LAYER_CALL && s->call)
		put_text(l, "call", s->call);
	if (s->layer == FAULT_LAYER_COMPLETION && status)
		put_text(l, "status", status);
	if (s->layer == FAULT_LAYER_MEMORY) {
		put_hex(l, "key", s->key);
		put_hex(l, "address", s->address);
		put_number(l, "length", s->length);
	}
}

size_t fault_trace_hit(const struct fault_hit *hit, char *buf)
{
	const struct fault_entry *e = hit->entry;
	const struct fault_subject *s = hit->subject;
	struct line l;

	begin(&l, "hit", buf, hit->now);
	put_number(&l, "rule", e->number);
	put_number(&l, "hits", e->hits);
	put_number(&l, "match", e->seen);
	put_text(&l, "layer", fault_layer_name(s->layer));
	put_text(&l, "what", fault_action_name(e->rule.action));
	if (s->device)
		put_text(&l, "dev", s->device);
	if (s->port)
		put_text(&l, "at", s->port);
	if (s->pkt)
		put_packet(&l, s);
	else if (s->layer != FAULT_LAYER_TIME)
		put_other(&l, s);
	return l.used;
}
