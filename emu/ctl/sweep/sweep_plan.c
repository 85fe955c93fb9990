/* SPDX-License-Identifier: BSD-2-Clause */
/* From the counts of a good run to the list of runs. */
#include "sweep_plan.h"

#include "emu/abi/ctl.h"
#include "emu/fault/rule/rules.h"
#include "sweep_errno.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define POSTS_COUNTED   2000u /* of one call of all programs */
#define PACKETS_COUNTED 500u  /* of one opcode */

/* ---- counting ---- */

static bool is_post(const char *call)
{
	return strncmp(call, "post_", 5) == 0 || strcmp(call, "req_notify") == 0;
}

static void put_call_rules(FILE *out)
{
	for (const struct fault_constant *c = fault_calls.table; c->name; c++) {
		fprintf(out, "count call=%s", c->name);
		if (is_post(c->name))
			fprintf(out, " first=%u", POSTS_COUNTED);
		fputc('\n', out);
	}
}

static void put_completion_rules(FILE *out)
{
	for (const struct fault_constant *c = fault_wc_opcodes.table; c->name; c++)
		fprintf(out, "count wc.opcode=%s first=%u\n", c->name, POSTS_COUNTED);
}

static void put_packet_rules(FILE *out)
{
	const char *name;

	for (unsigned i = 0; (name = fault_opcode_at(i)); i++)
		fprintf(out, "count opcode=%s first=%u\n", name, PACKETS_COUNTED);
}

void sweep_plan_rules(unsigned kinds, FILE *out)
{
	if (kinds & (1u << SWEEP_CALLS | 1u << SWEEP_EVENTS | 1u << SWEEP_DEVICE))
		put_call_rules(out);
	if (kinds & (1u << SWEEP_COMPLETIONS | 1u << SWEEP_EVENTS))
		put_completion_rules(out);
	if (kinds & 1u << SWEEP_PACKETS)
		put_packet_rules(out);
}

static struct sweep_count *find_count(const struct sweep_counts *c, const char *what,
				      unsigned client, bool is_packet)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->at[i].client == client && c->at[i].is_packet == is_packet &&
		    strcmp(c->at[i].what, what) == 0)
			return &c->at[i];
	return NULL;
}

static int count(struct sweep_counts *c, const struct sweep_count *one)
{
	struct sweep_count *known = find_count(c, one->what, one->client, one->is_packet), *more;

	if (known) {
		known->n++;
		return 0;
	}
	more = reallocarray(c->at, c->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->at = more;
	c->at[c->n] = *one;
	c->at[c->n++].n = 1;
	return 0;
}

/* The value of " name=" in a line of the trace, with or without quotes; false: it has none. */
static bool word_of(const char *line, const char *name, char out[SWEEP_WORD_MAX])
{
	const size_t n = strlen(name);

	for (const char *at = line; (at = strchr(at, ' ')); at++) {
		if (strncmp(at + 1, name, n) != 0 || at[n + 1] != '=')
			continue;
		at += n + 2;
		if (*at == '"')
			snprintf(out, SWEEP_WORD_MAX, "%.*s", (int)strcspn(at + 1, "\""), at + 1);
		else
			snprintf(out, SWEEP_WORD_MAX, "%.*s", (int)strcspn(at, " "), at);
		return true;
	}
	return false;
}

/* "count wc.opcode=SEND first=2000": what the rule is about. */
static const char *text_of(const json_t *rules, long number)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(rules, i, rule)
	{
		if (json_integer_value(json_object_get(rule, UHCA_CTL_RULE)) == number)
			return json_string_value(json_object_get(rule, UHCA_CTL_TEXT));
	}
	return NULL;
}

static int take_hit(struct sweep_counts *c, const json_t *rules, const char *line)
{
	struct sweep_count one = {.n = 1};
	char word[SWEEP_WORD_MAX];
	const char *text = NULL;

	if (strncmp(line, "hit ", 4) != 0 || !word_of(line, "what", word) ||
	    strcmp(word, "count") != 0)
		return 0;
	if (word_of(line, "rule", word))
		text = text_of(rules, strtol(word, NULL, 10));
	if (!text || (!word_of(text, "call", one.what) && !word_of(text, "wc.opcode", one.what) &&
		      !(one.is_packet = word_of(text, "opcode", one.what))))
		return 0;
	if (!one.is_packet && word_of(line, "client", word))
		one.client = (unsigned)strtoul(word, NULL, 10);
	word_of(line, "program", one.program);
	return count(c, &one);
}

int sweep_counts_read(const json_t *record, struct sweep_counts *out)
{
	const json_t *rules = json_object_get(record, UHCA_CTL_RULES), *line;
	int error = 0;
	size_t i;

	*out = (struct sweep_counts){
		.lost = json_integer_value(json_object_get(record, UHCA_CTL_LOST)) > 0};
	json_array_foreach(json_object_get(record, UHCA_CTL_LINES), i, line)
	{
		if (error == 0)
			error = take_hit(out, rules, json_string_value(line));
	}
	if (error < 0)
		sweep_counts_free(out);
	return error;
}

void sweep_counts_free(struct sweep_counts *counts)
{
	free(counts->at);
	*counts = (struct sweep_counts){.at = NULL};
}

unsigned sweep_counts_of(const struct sweep_counts *counts, const struct sweep_item *item,
			 const char **program)
{
	const struct sweep_count *c =
		find_count(counts, item->what, item->client, item->kind == SWEEP_PACKETS);

	*program = c ? c->program : "";
	return c ? c->n : 0;
}

/* ---- the plan ---- */

static int add(struct sweep_plan *p, const struct sweep_item *item, const char *how)
{
	struct sweep_item *more = p->item;

	if (p->n % 256 == 0)
		more = reallocarray(p->item, p->n + 256, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->item = more;
	p->item[p->n] = *item;
	snprintf(p->item[p->n++].how, SWEEP_WORD_MAX, "%s", how);
	return 0;
}

static int add_all(struct sweep_plan *p, const struct sweep_item *item, const char *hows)
{
	char how[SWEEP_WORD_MAX];
	int error = 0;

	for (size_t n; error == 0 && *hows; hows += n + (hows[n] == ' ')) {
		n = strcspn(hows, " ");
		snprintf(how, sizeof(how), "%.*s", (int)n, hows);
		error = add(p, item, how);
	}
	return error;
}

static int add_hows(struct sweep_plan *p, const struct sweep_item *item)
{
	int error = 0;

	for (unsigned i = 0; error == 0 && i < sweep_n_hows; i++)
		if (sweep_hows[i].kind == item->kind)
			error = add(p, item, sweep_hows[i].word);
	return error;
}

/* IBTA 11.6.2: what can become of a request, and of a receive. */
static const char *statuses_of(const char *opcode)
{
	if (strcmp(opcode, "RECV") == 0)
		return "LOC_LEN_ERR LOC_QP_OP_ERR LOC_PROT_ERR WR_FLUSH_ERR REM_OP_ERR GENERAL_ERR";
	if (strcmp(opcode, "RECV_RDMA_WITH_IMM") == 0)
		return "LOC_QP_OP_ERR LOC_ACCESS_ERR WR_FLUSH_ERR REM_OP_ERR GENERAL_ERR";
	if (strcmp(opcode, "BIND_MW") == 0)
		return "MW_BIND_ERR LOC_QP_OP_ERR WR_FLUSH_ERR GENERAL_ERR";
	if (strcmp(opcode, "LOCAL_INV") == 0 || strncmp(opcode, "REG_", 4) == 0)
		return "LOC_QP_OP_ERR LOC_ACCESS_ERR WR_FLUSH_ERR GENERAL_ERR";
	return "LOC_LEN_ERR LOC_QP_OP_ERR LOC_PROT_ERR WR_FLUSH_ERR BAD_RESP_ERR REM_INV_REQ_ERR "
	       "REM_ACCESS_ERR REM_OP_ERR RETRY_EXC_ERR RNR_RETRY_EXC_ERR GENERAL_ERR";
}

/* One moment: all that can go wrong there. */
static int add_moment(struct sweep_plan *p, const struct sweep_item *item)
{
	const struct sweep_errno *e;

	switch (item->kind) {
	case SWEEP_CALLS:
		e = sweep_errno_of(item->what);
		return e ? add_all(p, item, e->values) : 0;
	case SWEEP_COMPLETIONS:
		return add_all(p, item, statuses_of(item->what));
	case SWEEP_EVENTS:
	case SWEEP_KINDS:
		return 0;
	case SWEEP_PACKETS:
	case SWEEP_DEVICE:
		return add_hows(p, item);
	}
	return 0;
}

/* Is it one of those that a sweep of this kind makes fail? */
static bool is_of(const struct sweep_count *c, enum sweep_kind kind)
{
	if (c->is_packet || kind == SWEEP_PACKETS)
		return c->is_packet && kind == SWEEP_PACKETS;
	return sweep_is_call(c->what) == (kind != SWEEP_COMPLETIONS);
}

/* The first of many, and the last. */
static int add_count(struct sweep_plan *p, const struct sweep_count *c, enum sweep_kind kind,
		     unsigned each)
{
	struct sweep_item item = {.kind = kind, .client = c->client};
	int error = 0;

	memcpy(item.what, c->what, sizeof(item.what));
	p->happened += c->n;
	for (item.nth = 1; item.nth <= c->n && error == 0; item.nth++) {
		if (each && item.nth > each)
			item.nth = c->n;
		p->tried++;
		error = add_moment(p, &item);
	}
	return error;
}

/* ---- events ---- */

#define OF_DEVICE_                                                                                 \
	"DEVICE_FATAL PORT_ACTIVE PORT_ERR LID_CHANGE PKEY_CHANGE SM_CHANGE CLIENT_REREGISTER "    \
	"GID_CHANGE "
#define OF_QP_                                                                                     \
	"QP_FATAL QP_REQ_ERR QP_ACCESS_ERR COMM_EST SQ_DRAINED PATH_MIG PATH_MIG_ERR "             \
	"QP_LAST_WQE_REACHED"

/* When connections are made, and when data moves. */
static const struct {
	const char *what, *events;
} moments[] = {
	{"modify_qp", OF_DEVICE_ OF_QP_},
	{"post_srq_recv", "SRQ_ERR SRQ_LIMIT_REACHED"},
	{NULL, OF_DEVICE_ OF_QP_ " CQ_ERR"},
};

/* Of completions the first of a client, whatever its opcode. */
static bool is_first_completion(const struct sweep_counts *counts, unsigned i)
{
	if (counts->at[i].is_packet || sweep_is_call(counts->at[i].what))
		return false;
	for (unsigned k = 0; k < i; k++)
		if (counts->at[k].client == counts->at[i].client && !counts->at[k].is_packet &&
		    !sweep_is_call(counts->at[k].what))
			return false;
	return true;
}

static const char *events_at(const struct sweep_counts *counts, unsigned at)
{
	for (unsigned i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		if (moments[i].what ? strcmp(moments[i].what, counts->at[at].what) == 0
				    : is_first_completion(counts, at))
			return moments[i].events;
	return NULL;
}

static int add_events(struct sweep_plan *p, const struct sweep_counts *counts)
{
	int error = 0;

	for (unsigned i = 0; i < counts->n && error == 0; i++) {
		const struct sweep_count *c = &counts->at[i];
		struct sweep_item item = {.kind = SWEEP_EVENTS, .client = c->client, .nth = 1};
		const char *events = events_at(counts, i);

		if (!events)
			continue;
		memcpy(item.what, c->what, sizeof(item.what));
		if (strcmp(c->what, "modify_qp") == 0) /* the last: its QP is ready */
			item.nth = c->n;
		p->happened += c->n;
		p->tried++;
		error = add_all(p, &item, events);
	}
	return error;
}

int sweep_plan_make(const struct sweep_counts *counts, unsigned kinds, unsigned each,
		    struct sweep_plan *out)
{
	int error = 0;

	*out = (struct sweep_plan){.n = 0};
	for (unsigned k = 0; k < SWEEP_KINDS && error == 0; k++) {
		if (!(kinds & 1u << k))
			continue;
		if (k == SWEEP_EVENTS)
			error = add_events(out, counts);
		for (unsigned i = 0; k != SWEEP_EVENTS && i < counts->n && error == 0; i++)
			if (is_of(&counts->at[i], (enum sweep_kind)k))
				error = add_count(out, &counts->at[i], (enum sweep_kind)k, each);
	}
	if (error < 0)
		sweep_plan_free(out);
	return error;
}

void sweep_plan_only(struct sweep_plan *plan, const char *pattern)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < plan->n; i++) {
		char name[SWEEP_NAME_MAX];

		sweep_item_name(&plan->item[i], name);
		if (fnmatch(pattern, name, FNM_EXTMATCH) == 0)
			plan->item[kept++] = plan->item[i];
	}
	plan->n = kept;
}

void sweep_plan_free(struct sweep_plan *plan)
{
	free(plan->item);
	*plan = (struct sweep_plan){.n = 0};
}
