/* SPDX-License-Identifier: BSD-2-Clause */
/* See vocabulary.h. tests/unit/model/capture/test_vocabulary.c holds it against what the daemon
 * writes. */
#include "vocabulary.h"

#include "emu/abi/cause.h"
#include "emu/abi/errno_name.h"
#include "emu/abi/names.h"
#include "emu/model/read/read.h"
#include "emu/words/words.h"
#include "wire/opcode.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_(name) #name,

static const char *const statuses[] = {UHCA_ABI_STATUS_NAMES(NAME_) NULL};
static const char *const opcodes[] = {UHCA_ABI_OPCODE_NAMES(NAME_) NULL};
static const char *const events[] = {UHCA_ABI_EVENT_NAMES(NAME_) NULL};
static const char *const calls[] = {UHCA_ABI_CALL_NAMES(NAME_) NULL};
static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR", NULL};
static const char *const actors[] = {"program", NULL};
static const char *const causes[] = {UHCA_ABI_CAUSE_NAMES(NAME_) NULL};
static const char *const reasons[] = {"timeout", "nak", "gap", "rnr", NULL};
static const char *const layers[] = {"packet", "call", "completion", "memory", "time", "hop", NULL};

/* What a word can say. */
struct term {
	const char *name;
	const char *const *values; /* one of these; NULL: a number, or what takes says */
	uint64_t most;             /* of a number */
	bool (*takes)(const char *value);
	const char *example; /* where takes is the judge */
};

#define TERMS_MAX 24
#define BITS_24   0xffffff
#define ONE_OF_(name, values)                                                                      \
	{                                                                                          \
		name, values, 0, NULL, NULL                                                        \
	}
#define NUMBER_(name, most)                                                                        \
	{                                                                                          \
		name, NULL, most, NULL, NULL                                                       \
	}
#define JUDGED_(name, takes, example)                                                              \
	{                                                                                          \
		name, NULL, 0, takes, example                                                      \
	}

static bool is_one_of(const char *value, const char *const *values)
{
	while (*values && strcasecmp(*values, value) != 0)
		values++;
	return *values;
}

/* Devices have names of the daemon's making, or those that a machine's file gives them. */
static bool is_device(const char *value)
{
	size_t n =
		strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n > 0 && !value[n] && value[0] != '.';
}

static bool is_call_status(const char *value)
{
	if (strcasecmp(value, "slow") == 0)
		return true;
	for (int n = 1; n < 4096; n++) {
		const char *name = uhca_errno_name(n);

		if (name && strcasecmp(name, value) == 0)
			return true;
	}
	return false;
}

/* What a rule met: a call, the opcode of a packet, or the status of a completion. */
static bool is_met(const char *value)
{
	for (unsigned op = 0; op < 256; op++)
		if (roce_opcode_table[op].name &&
		    strcasecmp(roce_opcode_table[op].name, value) == 0)
			return true;
	return is_one_of(value, calls) || is_one_of(value, statuses);
}

/* Why: emu/abi/cause.h. */
#define CAUSE_                                                                                     \
	ONE_OF_("cause", causes), NUMBER_("key", UINT32_MAX), NUMBER_("near", UINT32_MAX),         \
		NUMBER_("rights", UINT32_MAX), NUMBER_("at", UINT64_MAX),                          \
		NUMBER_("bytes", UINT64_MAX), NUMBER_("start", UINT64_MAX),                        \
		NUMBER_("size", UINT64_MAX), NUMBER_("expected", UINT64_MAX),                      \
		NUMBER_("got", UINT64_MAX), NUMBER_("since", UINT64_MAX),                          \
		NUMBER_("rest", UINT64_MAX)

#define DEVICE_ JUDGED_("dev", is_device, "uhca0")

static const struct kind {
	const char *name;
	struct term term[TERMS_MAX];
} kinds[] = {
	{"state",
	 {DEVICE_, NUMBER_("qp", BITS_24), ONE_OF_("from", states), ONE_OF_("to", states),
	  ONE_OF_("by", actors)}},
	{"completion",
	 {DEVICE_, NUMBER_("qp", BITS_24), NUMBER_("cq", UINT32_MAX), NUMBER_("wr", UINT64_MAX),
	  ONE_OF_("status", statuses), ONE_OF_("opcode", opcodes), NUMBER_("length", UINT32_MAX),
	  NUMBER_("vendor", UINT32_MAX), CAUSE_}},
	{"retry",
	 {DEVICE_, NUMBER_("qp", BITS_24), NUMBER_("psn", BITS_24), ONE_OF_("why", reasons),
	  NUMBER_("left", 7)}},
	{"nak",
	 {DEVICE_, NUMBER_("qp", BITS_24), NUMBER_("psn", BITS_24), NUMBER_("syndrome", 0xff),
	  CAUSE_}},
	{"event",
	 {DEVICE_, ONE_OF_("type", events), NUMBER_("qp", BITS_24), NUMBER_("cq", UINT32_MAX),
	  NUMBER_("srq", UINT32_MAX), NUMBER_("wq", UINT32_MAX), NUMBER_("clients", UINT32_MAX)}},
	{"call",
	 {DEVICE_, ONE_OF_("verb", calls), JUDGED_("status", is_call_status, "ENOMEM, or slow"),
	  NUMBER_("client", UINT32_MAX)}},
	{"hit",
	 {DEVICE_, NUMBER_("rule", UINT32_MAX), NUMBER_("hits", UINT64_MAX),
	  NUMBER_("match", UINT64_MAX), ONE_OF_("layer", layers), NUMBER_("qp", BITS_24),
	  NUMBER_("psn", BITS_24), JUDGED_("what", is_met, "RC_ACKNOWLEDGE, reg_mr or SUCCESS")}},
};
static bool is_number(const char *value, uint64_t most)
{
	uint64_t n;

	return model_words_number(value, &n) && n <= most;
}

static int refuse_value(const struct term *t, const char *value, char *why, size_t cap)
{
	if (t->takes) {
		snprintf(why, cap, "'%s' cannot be a %s, as %s", value, t->name, t->example);
	} else if (!t->values) {
		snprintf(why, cap, "'%s' is not a number up to %llu", value,
			 (unsigned long long)t->most);
	} else {
		words_refuse(why, cap, t->name, value, words_at, t->values);
	}
	return -EINVAL;
}

int model_vocabulary_check(const char *kind, const char *name, const char *value, char *why,
			   size_t cap)
{
	const struct kind *k = words_row(WORDS_ROWS(kinds), kind);
	const char *names[TERMS_MAX + 1] = {NULL};
	char what[32];

	for (size_t i = 0; k && i < TERMS_MAX && k->term[i].name; i++) {
		const struct term *t = &k->term[i];
		bool so;

		names[i] = t->name;
		if (strcmp(t->name, name) != 0)
			continue;
		so = t->takes    ? t->takes(value)
		     : t->values ? is_one_of(value, t->values)
				 : is_number(value, t->most);
		return so ? 0 : refuse_value(t, value, why, cap);
	}
	snprintf(what, sizeof(what), "word of a %s", kind);
	words_refuse(why, cap, what, name, words_at, names);
	return -ENOENT;
}
