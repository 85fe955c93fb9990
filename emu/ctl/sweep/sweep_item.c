/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of items, the rules that they stand for, and what they mean in words. */
#include "sweep_item.h"

#include "emu/fault/rule/rules.h"
#include "emu/words/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {[SWEEP_CALLS] = "calls",
					 [SWEEP_COMPLETIONS] = "completions",
					 [SWEEP_EVENTS] = "events",
					 [SWEEP_PACKETS] = "packets",
					 [SWEEP_DEVICE] = "device",
					 [SWEEP_KINDS] = "all",
					 NULL};
static const char *const kind_words[] = {
	[SWEEP_CALLS] = "call",     [SWEEP_COMPLETIONS] = "completion", [SWEEP_EVENTS] = "event",
	[SWEEP_PACKETS] = "packet", [SWEEP_DEVICE] = "device",          [SWEEP_KINDS] = NULL};

const struct sweep_how sweep_hows[] = {
	{SWEEP_PACKETS, "drop", "drop", "is lost"},
	{SWEEP_PACKETS, "dup", "dup", "comes twice"},
	{SWEEP_PACKETS, "late", "delay=20ms", "comes 20 ms late"},
	{SWEEP_DEVICE, "port-down", "port.down", "the port goes down"},
	{SWEEP_DEVICE, "port-flap", "port.down=50ms", "the port goes down for 50 ms"},
	{SWEEP_DEVICE, "port-flaps", "port.flap=down:20ms,up:20ms,times:3",
	 "the port goes down three times for 20 ms"},
	{SWEEP_DEVICE, "fatal", "dev.fatal", "the device fails"},
	{SWEEP_DEVICE, "unplug", "dev.unplug=50ms", "the device is unplugged for 50 ms"},
	{SWEEP_DEVICE, "reset", "dev.reset=50ms", "the device is reset within 50 ms"},
};
const unsigned sweep_n_hows = sizeof(sweep_hows) / sizeof(sweep_hows[0]);

const char *sweep_kind_name(enum sweep_kind kind)
{
	return kind_names[kind];
}

static bool is_word(const char *at, size_t n, const char *word)
{
	return strlen(word) == n && strncmp(at, word, n) == 0;
}

int sweep_kinds_parse(const char *list, unsigned *kinds, char *error, size_t cap)
{
	*kinds = 0;
	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ",");
		unsigned k = 0;

		while (kind_names[k] && !is_word(at, n, kind_names[k]))
			k++;
		if (!kind_names[k]) {
			char word[SWEEP_WORD_MAX];

			snprintf(word, sizeof(word), "%.*s", (int)n, at);
			words_refuse(error, cap, "thing to sweep", word, words_at, kind_names);
			return -EINVAL;
		}
		*kinds |= k == SWEEP_KINDS ? (1u << SWEEP_KINDS) - 1 : 1u << k;
		at += n;
		if (!*at)
			return 0;
	}
}

/* ---- names ---- */

void sweep_item_name(const struct sweep_item *item, char out[SWEEP_NAME_MAX])
{
	snprintf(out, SWEEP_NAME_MAX, "%s/%s/%u/%u/%s", kind_words[item->kind], item->what,
		 item->client, item->nth, item->how);
}

static const struct sweep_how *how_of(const struct sweep_item *item)
{
	for (unsigned i = 0; i < sweep_n_hows; i++)
		if (sweep_hows[i].kind == item->kind && strcmp(sweep_hows[i].word, item->how) == 0)
			return &sweep_hows[i];
	return NULL;
}

static int find_kind(const char *word, struct sweep_item *out, char *error, size_t cap)
{
	for (out->kind = 0; out->kind < SWEEP_KINDS; out->kind++)
		if (strcmp(kind_words[out->kind], word) == 0)
			return 0;
	words_refuse(error, cap, "kind of run", word, words_at, kind_words);
	return -EINVAL;
}

static int find_how(const struct sweep_item *item, char *error, size_t cap)
{
	const char *known[12];
	unsigned n = 0;

	if ((item->kind != SWEEP_PACKETS && item->kind != SWEEP_DEVICE) || how_of(item))
		return 0;
	for (unsigned i = 0; i < sweep_n_hows; i++)
		if (sweep_hows[i].kind == item->kind)
			known[n++] = sweep_hows[i].word;
	known[n] = NULL;
	words_refuse(error, cap, "fault", item->how, words_at, known);
	return -EINVAL;
}

/* The rules have the names of calls, statuses, events and opcodes, and know them best. */
static int try_rule(const struct sweep_item *item, char *error, size_t cap)
{
	struct fault_error why;
	struct fault_rule rule;
	char text[SWEEP_RULE_MAX];

	sweep_item_rule(item, text);
	if (fault_rule_parse(text, &rule, &why) == 0)
		return 0;
	snprintf(error, cap, "%s", why.text);
	return -EINVAL;
}

int sweep_item_parse(const char *name, struct sweep_item *out, char *error, size_t cap)
{
	char kind[SWEEP_WORD_MAX];
	int end = 0;

	memset(out, 0, sizeof(*out));
	if (sscanf(name, "%39[^/]/%39[^/]/%u/%u/%39[^/]%n", kind, out->what, &out->client,
		   &out->nth, out->how, &end) != 5 ||
	    name[end] || out->nth == 0) {
		snprintf(error, cap, "'%s' is not KIND/WHAT/CLIENT/N/HOW, as a report has it",
			 name);
		return -EINVAL;
	}
	if (find_kind(kind, out, error, cap) < 0 || find_how(out, error, cap) < 0)
		return -EINVAL;
	return try_rule(out, error, cap);
}

/* ---- rules ---- */

bool sweep_is_call(const char *what)
{
	return islower((unsigned char)what[0]);
}

static void put_action(const struct sweep_item *item, char *out, size_t cap)
{
	const struct sweep_how *how = how_of(item);

	switch (item->kind) {
	case SWEEP_CALLS:
		snprintf(out, cap, "call.fail=%s", item->how);
		break;
	case SWEEP_COMPLETIONS:
		snprintf(out, cap, "cqe.set=status:%s", item->how);
		break;
	case SWEEP_EVENTS:
		snprintf(out, cap, "event=%s", item->how);
		break;
	case SWEEP_PACKETS:
	case SWEEP_DEVICE:
	case SWEEP_KINDS:
		snprintf(out, cap, "%s", how ? how->rule : item->how);
		break;
	}
}

static const char *selector_of(const struct sweep_item *item)
{
	if (item->kind == SWEEP_PACKETS)
		return "opcode";
	return sweep_is_call(item->what) ? "call" : "wc.opcode";
}

static void put_rule(const struct sweep_item *item, const char *action, char out[SWEEP_RULE_MAX])
{
	int n = snprintf(out, SWEEP_RULE_MAX, "%s %s=%s", action, selector_of(item), item->what);

	if (item->kind != SWEEP_PACKETS)
		snprintf(out + n, SWEEP_RULE_MAX - (size_t)n, " client=%u", item->client);
}

void sweep_item_rule(const struct sweep_item *item, char out[SWEEP_RULE_MAX])
{
	char action[2 * SWEEP_WORD_MAX];
	size_t n;

	put_action(item, action, sizeof(action));
	put_rule(item, action, out);
	n = strlen(out);
	snprintf(out + n, SWEEP_RULE_MAX - n, " nth=%u", item->nth);
}

void sweep_item_count_rule(const struct sweep_item *item, char out[SWEEP_RULE_MAX])
{
	put_rule(item, "count", out);
}

/* ---- words ---- */

static const char *ending(unsigned n)
{
	if (n % 100 >= 11 && n % 100 <= 13)
		return "th";
	return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void put_moment(const struct sweep_item *item, char *out, size_t cap)
{
	const char *thing = item->kind == SWEEP_PACKETS ? " packet"
			    : sweep_is_call(item->what) ? ""
							: " completion";
	int n = snprintf(out, cap, "the %u%s %s%s", item->nth, ending(item->nth), item->what,
			 thing);

	if (n > 0 && (size_t)n < cap && item->kind != SWEEP_PACKETS)
		snprintf(out + n, cap - (size_t)n, " of client %u", item->client);
}

void sweep_item_words(const struct sweep_item *item, char *out, size_t cap)
{
	const struct sweep_how *how = how_of(item);
	char moment[SWEEP_NAME_MAX];

	put_moment(item, moment, sizeof(moment));
	switch (item->kind) {
	case SWEEP_CALLS:
		snprintf(out, cap, "%s fails with %s", moment, item->how);
		break;
	case SWEEP_COMPLETIONS:
		snprintf(out, cap, "%s has status %s", moment, item->how);
		break;
	case SWEEP_EVENTS:
		snprintf(out, cap, "event %s comes at %s", item->how, moment);
		break;
	case SWEEP_PACKETS:
		snprintf(out, cap, "%s %s", moment, how ? how->words : item->how);
		break;
	case SWEEP_DEVICE:
	case SWEEP_KINDS:
		snprintf(out, cap, "%s at %s", how ? how->words : item->how, moment);
		break;
	}
}

bool sweep_call_destroys(const char *call)
{
	static const char *const down[] = {
		"destroy_", "dealloc_",      "dereg_",          "free_",       "close_",
		"detach_",  "rdma_destroy_", "rdma_disconnect", "rdma_leave_", NULL};

	for (unsigned i = 0; down[i]; i++)
		if (strncmp(call, down[i], strlen(down[i])) == 0)
			return true;
	return false;
}
