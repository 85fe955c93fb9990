/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl capture. The daemon opens the file, so a relative name is made absolute here.
 */
#include "commands.h"
#include "connection.h"
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void print_facts(const struct ctl_options *o, const json_t *facts)
{
	const char *file = json_string_value(json_object_get(facts, UHCA_CTL_FILE));
	json_int_t packets = json_integer_value(json_object_get(facts, UHCA_CTL_PACKETS));
	json_int_t bytes = json_integer_value(json_object_get(facts, UHCA_CTL_BYTES));
	bool running = json_is_true(json_object_get(facts, UHCA_CTL_RUNNING));

	if (o->json) {
		json_dumpf(facts, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (!running && strcmp(o->word[1], "stop") != 0) {
		puts("no capture is running");
	} else {
		printf("%s%s: %" JSON_INTEGER_FORMAT " packets, %" JSON_INTEGER_FORMAT " bytes\n",
		       running ? "capturing to " : "", file ? file : "?", packets, bytes);
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

int ctl_absolute_path(const char *file, char out[2 * PATH_MAX])
{
	char cwd[PATH_MAX];

	if (file[0] == '/') {
		snprintf(out, 2 * PATH_MAX, "%s", file);
	} else if (!getcwd(cwd, sizeof(cwd))) {
		fprintf(stderr, "uhcactl: the current directory: %s\n", strerror(errno));
		return CTL_EXIT_FAILED;
	} else {
		snprintf(out, 2 * PATH_MAX, "%s/%s", cwd, file);
	}
	return 0;
}

static int start(const struct ctl_options *o)
{
	char path[2 * PATH_MAX];
	int status = ctl_absolute_path(o->word[2], path);

	if (status != 0)
		return status;
	return request(o, json_pack("{s:s, s:s, s:s}", UHCA_CTL_CMD, "capture", UHCA_CTL_ACTION,
				    "start", UHCA_CTL_FILE, path));
}

int ctl_capture(const struct ctl_options *o)
{
	const char *action = o->n_words > 1 ? o->word[1] : "";

	if (strcmp(action, "start") == 0 && o->n_words == 3)
		return start(o);
	if ((strcmp(action, "stop") == 0 || strcmp(action, "status") == 0) && o->n_words == 2)
		return request(o, json_pack("{s:s, s:s}", UHCA_CTL_CMD, "capture", UHCA_CTL_ACTION,
					    action));
	return ctl_usage_error("capture start FILE, capture stop, or capture status");
}
