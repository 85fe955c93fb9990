/* SPDX-License-Identifier: BSD-2-Clause */
/* Completes a parsed rule: its moment, defaults, and combinations that cannot be. */
#include "rule_settle.h"

#include "emu/abi/cqe.h"
#include "emu/abi/event.h"
#include "rule_names.h"
#include "rule_opcode.h"
#include "wire/cm_msg.h"

#include <errno.h>
#include <string.h>

#define CM_BIT_(name) (UINT32_C(1) << (ROCE_CM_##name & 31))
#define CM_LAP_BIT    (UINT32_C(1) << (0x19 & 31))
#define CM_ANY        UINT32_C(0x07ff0000)

static const char *const looks_at[FAULT_LAYERS] = {
	[FAULT_LAYER_PACKET] = "packets",         [FAULT_LAYER_CALL] = "calls",
	[FAULT_LAYER_COMPLETION] = "completions", [FAULT_LAYER_MEMORY] = "memory accesses",
	[FAULT_LAYER_TIME] = "time only",         [FAULT_LAYER_HOP] = "packets at a switch",
};

/* The token of a word, or NULL when it was not given. */
static const struct fault_token *find_given(const struct fault_given *g, const char *name)
{
	const int index = fault_word_index(name);

	for (unsigned i = 0; i < g->n; i++)
		if (g->item[i].word == &fault_words[index])
			return &g->item[i].token;
	return NULL;
}

/* The first moment of the mask: what it would look at. */
static const char *first_of(uint32_t mask)
{
	unsigned layer = 0;

	while (layer + 1 < FAULT_LAYERS && !(mask >> layer & 1))
		layer++;
	return looks_at[layer];
}

static uint32_t layers_of(const struct fault_word *word, const struct fault_rule *r)
{
	if (strcmp(word->name, "every") == 0)
		return r->limit.period ? FAULT_ON_ANY : FAULT_ON_ANY & ~FAULT_ON_(TIME);
	if (strcmp(word->name, "at") == 0)
		return 1u << r->layer;
	return word->layers;
}

/*
 * A device action waits for the clock alone when no word needs anything else; otherwise for packets
 * where these are possible.
 */
static int settle_layer(const struct fault_text *t, const struct fault_given *g,
			struct fault_rule *r)
{
	uint32_t mask = fault_action_words[r->action].layers;

	for (unsigned i = 0; i < g->n; i++) {
		const struct fault_word *word = g->item[i].word;
		const uint32_t allowed = layers_of(word, r);

		if (!(mask & allowed))
			return fault_fail(t, g->item[i].token.whole.at,
					  "'%.*s' applies to %s, but this rule applies to %s",
					  (int)g->item[i].token.name.length,
					  g->item[i].token.name.at, first_of(allowed),
					  first_of(mask));
		mask &= allowed;
	}
	if (mask & FAULT_ON_(TIME)) {
		r->layer = FAULT_LAYER_TIME;
		return 0;
	}
	for (r->layer = 0; !(mask >> r->layer & 1);)
		r->layer++;
	return 0;
}

static bool one_number(const struct fault_list *l)
{
	return l->n == 1 && l->range[0].low == l->range[0].high;
}

/* What the clock alone does to an object wants its number. */
static int check_objects(const struct fault_text *t, const struct fault_given *g,
			 const struct fault_rule *r)
{
	static const char *const names[] = {"qp", "cq", "srq", "key"};
	const struct fault_list *lists[] = {&r->select.qp, &r->select.cq, &r->select.srq,
					    &r->select.key};

	if (r->layer != FAULT_LAYER_TIME)
		return 0;
	for (unsigned i = 0; i < 4; i++) {
		const struct fault_token *token = find_given(g, names[i]);

		if (token && !one_number(lists[i]))
			return fault_fail(t, token->value.at,
					  "in a rule without packets, '%s' needs a number",
					  names[i]);
	}
	return 0;
}

/* Which word names the object of an event; "": the port's or the device's. */
static const char *object_of(uint64_t event)
{
	switch (event) {
	case UHCA_ABI_EVENT_CQ_ERR:
		return "cq";
	case UHCA_ABI_EVENT_SRQ_ERR:
	case UHCA_ABI_EVENT_SRQ_LIMIT_REACHED:
		return "srq";
	case UHCA_ABI_EVENT_QP_FATAL:
	case UHCA_ABI_EVENT_QP_REQ_ERR:
	case UHCA_ABI_EVENT_QP_ACCESS_ERR:
	case UHCA_ABI_EVENT_COMM_EST:
	case UHCA_ABI_EVENT_SQ_DRAINED:
	case UHCA_ABI_EVENT_PATH_MIG:
	case UHCA_ABI_EVENT_PATH_MIG_ERR:
	case UHCA_ABI_EVENT_QP_LAST_WQE_REACHED:
		return "qp";
	default:
		return "";
	}
}

/* Is it known at this moment which object it is? What is known of a QP leads to its queues. */
static bool object_known(const char *object, enum fault_layer layer)
{
	if (strcmp(object, "key") == 0)
		return layer == FAULT_LAYER_PACKET || layer == FAULT_LAYER_CALL;
	return layer != FAULT_LAYER_TIME && layer != FAULT_LAYER_MEMORY;
}

static int check_device_action(const struct fault_text *t, const struct fault_given *g,
			       const struct fault_rule *r)
{
	const struct fault_action_word *action = &fault_action_words[r->action];
	const char *object = "qp";

	if (!(action->flags & FAULT_OF_OBJECT))
		return 0;
	if (r->action == FAULT_KEY_REVOKE)
		object = r->value.number ? "" : "key";
	else if (r->action == FAULT_EVENT)
		object = object_of(r->value.number);
	if (r->action == FAULT_EVENT && r->value.number == UHCA_ABI_EVENT_WQ_FATAL)
		return fault_fail(t, g->action.value.at,
				  "rules cannot name a work queue; use uhcactl event");
	if (!*object || find_given(g, object) || object_known(object, r->layer))
		return 0;
	if (r->action == FAULT_EVENT && find_given(g, "qp"))
		return 0;
	return fault_fail(t, g->action.whole.at, "the %s is missing: give %s=N", object, object);
}

/* A part of the network is named, and no device where nothing but the clock fires the rule. */
static int check_network(const struct fault_text *t, const struct fault_given *g,
			 const struct fault_rule *r)
{
	const enum fault_part part = fault_action_part(r->action);
	const struct fault_token *dev = find_given(g, "dev");

	if (part == FAULT_PARTS)
		return 0;
	if (!r->value.parts[0])
		return fault_fail(t, g->action.whole.at, "the %s is missing: give %s=NAME",
				  fault_part_name(part), fault_part_name(part));
	if (dev && r->layer == FAULT_LAYER_TIME)
		return fault_fail(t, dev->whole.at,
				  "'%.*s' happens to a %s: 'dev' needs a packet, call or "
				  "completion to look at",
				  (int)g->action.name.length, g->action.name.at,
				  fault_part_name(part));
	return 0;
}

/* Programs give a daemon up that does not answer for 30 seconds. */
static int check_hang(const struct fault_text *t, const struct fault_given *g,
		      const struct fault_rule *r)
{
	const struct fault_token *time = find_given(g, "time");

	if (r->action == FAULT_DEV_HANG && time && r->value.time > UINT64_C(25000000000))
		return fault_fail(t, time->value.at, "a call takes at most 25s");
	return 0;
}

/* The line stands still once, unless the rule says how often. */
static int check_pause(const struct fault_text *t, const struct fault_given *g,
		       struct fault_rule *r)
{
	static const char *const often[] = {"nth", "every", "first", "times", "p"};

	if (r->action != FAULT_PAUSE)
		return 0;
	if (r->limit.period && r->value.number >= r->limit.period)
		return fault_fail(t, find_given(g, "every")->value.at,
				  "the pause is longer than the interval of 'every'");
	for (unsigned i = 0; i < sizeof(often) / sizeof(often[0]); i++)
		if (find_given(g, often[i]))
			return 0;
	r->limit.max_hits = 1;
	return 0;
}

static int check_limits(const struct fault_text *t, const struct fault_given *g,
			struct fault_rule *r)
{
	static const char *const counts[] = {"every", "first", "skip"};
	struct fault_limit *l = &r->limit;
	const struct fault_token *token;

	for (unsigned i = 0; l->nth.n && i < 3; i++) {
		token = find_given(g, counts[i]);
		if (token)
			return fault_fail(t, token->whole.at, "'nth' and '%s' exclude each other",
					  counts[i]);
	}
	if (l->every && l->first && l->first < l->every)
		return fault_fail(t, find_given(g, "first")->whole.at,
				  "each %lluth is beyond the first %llu: the rule never fires",
				  (unsigned long long)l->every, (unsigned long long)l->first);
	if (l->until && !l->after_rule[0] && l->after >= l->until)
		return fault_fail(t, find_given(g, "until")->whole.at,
				  "'until' is not later than 'after': the rule never fires");
	if (check_pause(t, g, r))
		return -EINVAL;
	if (l->while_file[0] && l->while_file[0] != '/')
		return fault_fail(t, find_given(g, "while_file")->value.at,
				  "the path must begin with '/'");
	if (r->layer != FAULT_LAYER_TIME || l->period)
		return 0;
	token = find_given(g, "times");
	if (token && l->max_hits > 1)
		return fault_fail(t, token->whole.at,
				  "'times' above 1 needs every=TIME or a condition");
	l->max_hits = 1;
	return 0;
}

static int check_calls(const struct fault_text *t, const struct fault_given *g,
		       const struct fault_rule *r)
{
	static const char *const posts[] = {"post_send", "post_recv", "post_srq_recv",
					    "post_wq_recv"};
	const struct fault_token *bad_wr = find_given(g, "bad_wr");

	if (!(fault_action_words[r->action].flags & FAULT_OF_CALLS))
		return 0;
	if (!r->select.call[0])
		return fault_fail(t, g->action.whole.at,
				  "the call is missing: give call=NAME or call=*");
	for (unsigned i = 0; bad_wr && i < 4; i++)
		if (fault_glob_any(r->select.call, posts[i]))
			return 0;
	if (bad_wr)
		return fault_fail(t, bad_wr->whole.at,
				  "'bad_wr' needs a post call, such as call=post_send");
	return 0;
}

static int check_cm(const struct fault_text *t, const struct fault_given *g, struct fault_rule *r)
{
	static const struct fault_opcode_need datagrams = {ROCE_HDR_DETH, false, false, true};
	const bool of_cm = fault_action_words[r->action].flags & FAULT_OF_CM;
	const uint32_t answered = r->action == FAULT_CM_MRA
					  ? CM_BIT_(REQ) | CM_BIT_(REP) | CM_LAP_BIT
					  : CM_BIT_(REQ) | CM_BIT_(REP);
	const struct fault_token *cm = find_given(g, "cm");
	const struct fault_token *opcode = find_given(g, "opcode");

	if (of_cm && !cm)
		r->select.cm = CM_BIT_(REQ);
	if (r->action == FAULT_SET && r->value.field == FAULT_FIELD_CM_PRIVATE && !cm)
		r->select.cm = CM_ANY;
	if (of_cm && (r->select.cm & ~answered))
		return fault_fail(t, cm->whole.at, "'%.*s' applies to REQ and REP only",
				  (int)g->action.name.length, g->action.name.at);
	if (!r->select.cm || !opcode || fault_opcode_restrict(&r->select, &datagrams))
		return 0;
	return fault_fail(t, opcode->whole.at, "none of these opcodes is a CM message");
}

/* A completion that is a success leaves nothing undefined. */
static int check_garbage(const struct fault_text *t, const struct fault_given *g,
			 struct fault_rule *r)
{
	const struct fault_token *wc = find_given(g, "wc");
	const uint64_t success = UINT64_C(1) << UHCA_ABI_WC_SUCCESS;

	if (r->action != FAULT_CQE_GARBAGE)
		return 0;
	if (!wc)
		r->select.wc_status = ~success;
	if (r->select.wc_status & success)
		return fault_fail(t, wc->whole.at,
				  "a successful completion has no undefined fields");
	return 0;
}

/* Packets that an action has nothing to do with are not selected. */
static bool need_of(const struct fault_rule *r, struct fault_opcode_need *need)
{
	memset(need, 0, sizeof(*need));
	if (r->action == FAULT_SET) {
		need->headers = fault_field_words[r->value.field].headers;
		need->acks_only = r->value.field == FAULT_FIELD_CREDITS;
		need->gsi = !(need->headers & (uint32_t) ~(ROCE_HDR_DETH | ROCE_HDR_PAYLOAD));
	} else if (r->action == FAULT_TRUNCATE ||
		   (r->action == FAULT_CORRUPT && (strcmp(r->value.word, "payload") == 0 ||
						   strcmp(r->value.word, "silent") == 0))) {
		need->headers = ROCE_HDR_PAYLOAD;
		need->gsi = true;
	} else if (r->select.retry || (fault_action_words[r->action].flags & FAULT_ANSWERS)) {
		need->answered = true;
	}
	return need->headers || need->answered;
}

static int check_packets(const struct fault_text *t, const struct fault_given *g,
			 struct fault_rule *r)
{
	const struct fault_token *opcode = find_given(g, "opcode");
	struct fault_opcode_need need;

	if (check_cm(t, g, r))
		return -EINVAL;
	if (!need_of(r, &need) || fault_opcode_restrict(&r->select, &need))
		return 0;
	if (!opcode)
		opcode = &g->action;
	if (need.headers)
		return fault_fail(t, opcode->whole.at,
				  "none of these opcodes has the part that '%.*s' changes",
				  (int)g->action.whole.length, g->action.whole.at);
	return fault_fail(
		t, opcode->whole.at,
		r->select.retry ? "none of these opcodes is ever retransmitted; requests are"
				: "none of these opcodes is answered; requests of RC and XRC are");
}

int fault_rule_settle(const struct fault_text *t, const struct fault_given *g, struct fault_rule *r)
{
	if (settle_layer(t, g, r) || check_objects(t, g, r) || check_device_action(t, g, r) ||
	    check_limits(t, g, r) || check_calls(t, g, r) || check_garbage(t, g, r) ||
	    check_hang(t, g, r) || check_network(t, g, r))
		return -EINVAL;
	if (r->layer != FAULT_LAYER_PACKET) {
		r->select.direction = FAULT_BOTH;
		return 0;
	}
	if (!find_given(g, "dir"))
		r->select.direction = fault_action_words[r->action].direction;
	return check_packets(t, g, r);
}
