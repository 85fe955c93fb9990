/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan_stage.h"

#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (4u << 20)

static bool exists(void *user, const char *path)
{
	const struct plan_stage *st = user;

	return st->file && strcmp(st->file, path) == 0;
}

static void append(char *text, size_t *used, const char *line)
{
	const size_t n = strlen(line);

	assert_true(*used + n + 2 < TEXT_MAX);
	memcpy(text + *used, line, n);
	*used += n;
	text[(*used)++] = '\n';
	text[*used] = '\0';
}

static void hit(void *user, const struct fault_hit *h)
{
	struct plan_stage *st = user;
	char line[FAULT_TRACE_MAX];
	const size_t length = fault_trace_hit(h, line);

	assert_int_equal(length, strlen(line));
	append(st->trace, &st->trace_used, line);
}

static const struct fault_plan_ops ops = {.exists = exists, .hit = hit};

void plan_stage_open(struct plan_stage *st, uint64_t seed)
{
	char line[FAULT_TRACE_MAX];

	memset(st, 0, sizeof(*st));
	st->plan = fault_plan_create(seed, &ops, st);
	st->trace = calloc(1, TEXT_MAX);
	st->log = calloc(1, TEXT_MAX);
	assert_non_null(st->plan);
	assert_non_null(st->trace);
	assert_non_null(st->log);
	fault_trace_plan(st->plan, st->now, line);
	append(st->trace, &st->trace_used, line);
}

void plan_stage_close(struct plan_stage *st)
{
	fault_plan_destroy(st->plan);
	free(st->trace);
	free(st->log);
}

uint32_t plan_stage_add(struct plan_stage *st, const char *rule)
{
	char line[FAULT_TRACE_MAX];
	struct fault_error e;
	const int number = fault_plan_add(st->plan, rule, st->now, &e);

	if (number < 0)
		fail_msg("'%s': column %u: %s", rule, e.column, e.text);
	snprintf(line, sizeof(line), "%d", number);
	fault_trace_rule(fault_plan_find(st->plan, line), "added", st->now, line);
	append(st->trace, &st->trace_used, line);
	return (uint32_t)number;
}

struct fault_subject plan_stage_packet(struct roce_packet *pkt, uint8_t opcode)
{
	struct fault_subject s;

	memset(pkt, 0, sizeof(*pkt));
	memset(&s, 0, sizeof(s));
	pkt->bth.opcode.v = opcode;
	pkt->bth.dest_qp = 0x22;
	s.layer = FAULT_LAYER_PACKET;
	s.device = "uhca0";
	s.qpn = 0x11;
	s.direction = FAULT_TX;
	s.pkt = pkt;
	return s;
}

unsigned plan_stage_show(struct plan_stage *st, const struct fault_subject *s)
{
	const struct fault_entry *found[FAULT_HITS_MAX];
	const unsigned n = fault_plan_decide(st->plan, s, st->now, found);
	char line[128];

	st->shown++;
	for (unsigned i = 0; i < n; i++) {
		const struct fault_rule *r = &found[i]->rule;

		/* a burst and the drop that stands for it in a replay are the same */
		snprintf(line, sizeof(line), "%u %u", st->shown,
			 r->action == FAULT_BURST ? FAULT_DROP : r->action);
		if (r->action == FAULT_CORRUPT || r->value.jitter)
			snprintf(line + strlen(line), 40, " %u",
				 (unsigned)fault_plan_random(st->plan, found[i]->number, 1000000));
		append(st->log, &st->log_used, line);
	}
	return n;
}

unsigned plan_stage_send(struct plan_stage *st, uint8_t opcode, uint32_t psn)
{
	struct roce_packet pkt;
	const struct fault_subject s = plan_stage_packet(&pkt, opcode);

	pkt.bth.psn = psn;
	return plan_stage_show(st, &s);
}

unsigned plan_stage_wait(struct plan_stage *st, uint64_t now)
{
	const struct fault_subject clock = {.layer = FAULT_LAYER_TIME};
	unsigned n = 0;

	while (fault_plan_deadline(st->plan) <= now) {
		st->now = fault_plan_deadline(st->plan);
		n += plan_stage_show(st, &clock);
	}
	st->now = now;
	return n;
}
