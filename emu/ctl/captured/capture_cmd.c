/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl capture. The daemon opens the file, so a relative name is made absolute here.
 */
#include "captured.h"
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"

#include <limits.h>
#include <string.h>

static void print_facts(const struct ctl_options *o, const json_t *facts)
{
	const char *file = json_string_value(json_object_get(facts, UHCA_CTL_FILE));
	const char *error = json_string_value(json_object_get(facts, UHCA_CTL_ERROR));
	bool running = json_is_true(json_object_get(facts, UHCA_CTL_RUNNING));

	if (o->json) {
		json_dumpf(facts, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (error) {
		printf("the capture to %s ended early: %s\n", file ? file : "?", error);
	} else if (!running && strcmp(o->word[1], "status") == 0) {
		puts("no capture is running");
	} else {
		json_int_t packets = ctl_number_in(facts, UHCA_CTL_PACKETS);
		json_int_t records = ctl_number_in(facts, UHCA_CTL_RECORDS);

		printf("%s%s: %" JSON_INTEGER_FORMAT " packet%s, %" JSON_INTEGER_FORMAT
		       " record%s%s\n",
		       running ? "capturing to " : "", file ? file : "?", packets,
		       packets == 1 ? "" : "s", records, records == 1 ? "" : "s",
		       json_is_true(json_object_get(facts, UHCA_CTL_CUT)) ? "; more were dropped"
									  : "");
	}
}

static int request(const struct ctl_options *o, json_t *request)
{
	json_t *facts;
	int status = ctl_request(o->dir, request, &facts);

	if (status == 0)
		print_facts(o, facts);
	json_decref(facts);
	return status;
}

static int with_snap(const struct ctl_options *o, json_t *line)
{
	uint64_t n;

	if (!ctl_number(o->snap, 10, LONG_MAX, &n))
		return ctl_usage_error("--snap needs a number of bytes");
	json_object_set_new(line, UHCA_CTL_SNAP, json_integer((json_int_t)n));
	return 0;
}

/* start and dump. */
static int to_file(const struct ctl_options *o)
{
	char path[2 * PATH_MAX];
	int status = ctl_absolute_path(o->word[2], path);
	json_t *line;

	if (status != 0)
		return status;
	line = json_pack("{s:s, s:s, s:s}", UHCA_CTL_CMD, "capture", UHCA_CTL_ACTION, o->word[1],
			 UHCA_CTL_FILE, path);
	if (o->device)
		json_object_set_new(line, UHCA_CTL_DEVICE, json_string(o->device));
	if (o->snap)
		status = with_snap(o, line);
	if (status == 0)
		return request(o, line);
	json_decref(line);
	return status;
}

int ctl_capture(const struct ctl_options *o)
{
	static const char *const commands[] = {"start", "stop", "status", "dump", NULL};
	const char *action = o->n_words > 1 ? o->word[1] : "";
	bool start = strcmp(action, "start") == 0;

	if ((o->device || o->snap) && !start)
		return ctl_usage_error("--device and --snap need the command capture start");
	if ((start || strcmp(action, "dump") == 0) && o->n_words == 3)
		return to_file(o);
	if ((strcmp(action, "stop") == 0 || strcmp(action, "status") == 0) && o->n_words == 2)
		return request(o, ctl_command("capture", action));
	if (o->n_words > 1 && !words_has(action, words_at, commands))
		return ctl_no_such("command of capture", action, words_at, commands);
	return ctl_expected("capture start FILE, capture stop, capture status or capture dump "
			    "FILE");
}
