/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl step: a person at the wire of devices.
 */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/words/words.h"
#include "live.h"

#include <stdlib.h>
#include <string.h>

/* ---- what waits, and what went ---- */

static void print_packet(const json_t *w)
{
	const char *wr = ctl_text_in(w, UHCA_CTL_WR);
	double ms = strtod(ctl_text_in(w, UHCA_CTL_SINCE), NULL) / 1e6;

	printf("%6" JSON_INTEGER_FORMAT " %s %9.3f ms  %s", ctl_number_in(w, UHCA_CTL_NUMBER),
	       ctl_text_in(w, UHCA_CTL_DIRECTION), ms, ctl_text_in(w, UHCA_CTL_PACKET));
	if (*wr)
		printf(" wr=%s", wr);
	putchar('\n');
}

static void print_packets(const json_t *packets, json_int_t total)
{
	const json_t *w;
	size_t i;

	json_array_foreach(packets, i, w)
	{
		if (json_object_get(w, UHCA_CTL_DEVICE))
			printf("%s ", ctl_text_in(w, UHCA_CTL_DEVICE));
		print_packet(w);
	}
	if ((json_int_t)i < total)
		printf("... and %" JSON_INTEGER_FORMAT " more\n", total - (json_int_t)i);
}

static void print_device(const json_t *result)
{
	json_int_t total = ctl_number_in(result, UHCA_CTL_TOTAL);

	printf("%s: %s, %" JSON_INTEGER_FORMAT " packet%s wait%s\n",
	       ctl_text_in(result, UHCA_CTL_DEVICE),
	       json_is_true(json_object_get(result, UHCA_CTL_FROZEN)) ? "frozen" : "not frozen",
	       total, total == 1 ? "" : "s", total == 1 ? "s" : "");
	print_packets(json_object_get(result, UHCA_CTL_WAITING), total);
}

static void print_result(const json_t *result)
{
	const json_t *gone = json_object_get(result, UHCA_CTL_GONE);
	const json_t *device;
	size_t i;

	if (gone)
		print_packets(gone, ctl_number_in(result, UHCA_CTL_TOTAL));
	json_array_foreach(json_object_get(result, UHCA_CTL_DEVICES), i, device)
		print_device(device);
}

/* ---- the words ---- */

static const struct step_action {
	const char *word;   /* as typed */
	const char *action; /* as sent */
	int numbers;        /* arguments: of the packet, or how many */
	bool optional;      /* they may be left out */
	bool field;         /* FIELD and VALUE follow */
	const char *usage;
} actions[] = {
	{"freeze", "freeze", 0, false, false, "step freeze [DEVICE]"},
	{"go", "go", 0, false, false, "step go [DEVICE]"},
	{"list", "list", 0, false, false, "step list [DEVICE]"},
	{"next", "next", 1, true, false, "step next [N] [DEVICE]"},
	{"release", "release", 1, false, false, "step release N [DEVICE]"},
	{"drop", "drop", 1, false, false, "step drop N [DEVICE]"},
	{"set", "change", 1, false, true, "step set N FIELD VALUE [DEVICE]"},
};

/* Decimal, or hexadecimal with 0x; 64 bits as they are. */
static bool number_of(const char *word, uint64_t *out)
{
	return word && ctl_number(word, 0, UINT64_MAX, out);
}

/* Puts the words behind the action into the request; false: they are not right. */
static bool take_words(const struct step_action *a, const char *const *word, json_t *request)
{
	uint64_t n;

	if (a->numbers > 0) {
		if (number_of(*word, &n)) {
			json_object_set_new(request, a->optional ? UHCA_CTL_COUNT : UHCA_CTL_NUMBER,
					    json_integer((json_int_t)n));
			word++;
		} else if (!a->optional) {
			return false;
		}
	}
	if (a->field) {
		if (!word[0] || !number_of(word[1], &n))
			return false;
		json_object_set_new(request, UHCA_CTL_FIELD, json_string(word[0]));
		json_object_set_new(request, UHCA_CTL_VALUE, json_integer((json_int_t)n));
		word += 2;
	}
	if (!*word)
		return true;
	json_object_set_new(request, UHCA_CTL_DEVICE, json_string(word[0]));
	return !word[1];
}

int ctl_step(const struct ctl_options *o)
{
	const struct step_action *a = words_row(WORDS_ROWS(actions), o->word[1]);
	json_t *request;

	if (o->n_words < 2)
		return ctl_expected("step freeze, list, next, release, drop, set or go");
	if (!a)
		return ctl_no_such("command of step", o->word[1], words_row_at,
				   WORDS_ROWS(actions));
	request = ctl_command("step", a->action);
	if (!take_words(a, o->word + 2, request)) {
		json_decref(request);
		return ctl_expected(a->usage);
	}
	return ctl_order(o, request, NULL, print_result);
}
