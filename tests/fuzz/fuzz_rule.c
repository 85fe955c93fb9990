/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as rules, one a line: a rule is taken, with every value within its limits, or refused
 * with a column that is in it. What is taken enters a plan, to which packets of all opcodes, calls,
 * completions, memory accesses and the clock are shown.
 */
#include "fuzz.h"

#include "emu/fault/plan/plan.h"
#include "emu/fault/rule/rule_text.h"

#include <errno.h>
#include <string.h>

#define SUBJECTS 40

static void check_list(const struct fault_list *l)
{
	FUZZ_CHECK(l->n <= FAULT_LIST_MAX);
	for (unsigned i = 0; i < l->n; i++)
		FUZZ_CHECK(l->range[i].low <= l->range[i].high);
}

static void check_rule(const struct fault_rule *r, const char *text)
{
	const struct fault_select *s = &r->select;
	const struct fault_list *const lists[] = {
		&s->client, &s->qp,  &s->qp_order,     &s->peer_qp,  &s->srq,
		&s->pd,     &s->cq,  &s->key,          &s->address,  &s->length,
		&s->offset, &s->psn, &s->psn_relative, &r->limit.nth};
	struct fault_rule again;
	struct fault_error e;

	FUZZ_CHECK(r->action < FAULT_ACTIONS && r->layer < FAULT_LAYERS);
	FUZZ_CHECK(strncmp(r->text, text, strlen(r->text)) == 0);
	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		check_list(lists[i]);
	FUZZ_CHECK(r->limit.probability > 0);
	FUZZ_CHECK(memchr(r->name, '\0', sizeof(r->name)));
	FUZZ_CHECK(memchr(r->value.word, '\0', sizeof(r->value.word)));
	FUZZ_CHECK(memchr(s->device, '\0', sizeof(s->device)));
	FUZZ_CHECK(memchr(s->call, '\0', sizeof(s->call)));
	FUZZ_CHECK(memchr(r->limit.while_file, '\0', sizeof(r->limit.while_file)));
	if (r->action == FAULT_SET)
		FUZZ_CHECK(r->value.field < FAULT_FIELDS);
	FUZZ_CHECK(fault_rule_parse(r->text, &again, &e) == 0);
	FUZZ_CHECK(memcmp(r, &again, sizeof(again)) == 0);
}

static void check_line(const char *line)
{
	struct fault_rule r;
	struct fault_error e;

	memset(&e, 'x', sizeof(e));
	if (fault_rule_parse(line, &r, &e) == 0) {
		check_rule(&r, line);
		return;
	}
	FUZZ_CHECK(e.column >= 1 && e.column <= strcspn(line, "\n") + 1);
	FUZZ_CHECK(e.text[0] && memchr(e.text, '\0', sizeof(e.text)));
}

static bool exists(void *user, const char *path)
{
	(void)user;
	return path[1] == 't';
}

static void hit(void *user, const struct fault_hit *h)
{
	(void)user;
	FUZZ_CHECK(h->entry->hits && h->entry->hits <= h->entry->matched);
	FUZZ_CHECK(h->entry->matched <= h->entry->seen);
}

static void show(struct fault_plan *p, unsigned i)
{
	static const uint8_t payload[256] = {1, 7, 2, 3, [16] = 0, 0x13};
	const struct fault_entry *found[FAULT_HITS_MAX];
	struct roce_packet pkt = {.bth.opcode.v = (uint8_t)(i * 5),
				  .bth.dest_qp = i % 3,
				  .bth.psn = i,
				  .payload = payload,
				  .payload_len = 256};
	struct roce_flow flow = {.dport = 4791};
	struct fault_subject s = {.layer = (enum fault_layer)(i % FAULT_LAYERS),
				  .device = "uhca0",
				  .client = 1,
				  .qpn = i % 7,
				  .length = i,
				  .call = "post_send"};
	unsigned n;

	if (s.layer == FAULT_LAYER_PACKET) {
		s.direction = i & 8 ? FAULT_RX : FAULT_TX;
		s.pkt = &pkt;
		s.flow = &flow;
	}
	n = fault_plan_decide(p, &s, i * UINT64_C(1000000), found);
	FUZZ_CHECK(n <= FAULT_HITS_MAX);
	for (unsigned k = 0; k < n; k++)
		FUZZ_CHECK(fault_plan_random(p, found[k]->number, i + 1) <= i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fault_plan_ops ops = {.exists = exists, .hit = hit};
	struct fault_plan *p = fault_plan_create(1, &ops, NULL);
	char *text = malloc(size + 1);
	struct fault_error e;

	FUZZ_CHECK(text && p);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		check_line(line);
		fault_plan_add(p, line, 0, &e);
	}
	for (unsigned i = 0; i < SUBJECTS; i++)
		show(p, i);
	fault_plan_destroy(p);
	free(text);
	return 0;
}
