/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ctl_request.h. A table from name to handler, as for the clients' commands.
 */
#include "ctl_request.h"

#include "ctl_handler.h"
#include "ctl_table.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/base.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static json_t *counters(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	(void)request;
	(void)o;
	return io_ctl_counters(h);
}

static json_t *version(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	(void)h;
	(void)request;
	(void)o;
	return json_pack("{s:s, s:I}", UHCA_CTL_VERSION, UHCA_VERSION, UHCA_CTL_PID,
			 (json_int_t)getpid());
}

#define MEMBERS_MAX 6

static const struct request_kind {
	const char *name;
	const char *members[MEMBERS_MAX]; /* that the request may have beside "cmd" */
	json_t *(*handle)(const struct io_services *h, const json_t *request,
			  struct ctl_outcome *o);
} kinds[] = {
	{"show", {UHCA_CTL_WHAT}, io_ctl_show},
	{"counters", {NULL}, counters},
	{"capture",
	 {UHCA_CTL_ACTION, UHCA_CTL_FILE, UHCA_CTL_DEVICE, UHCA_CTL_SNAP},
	 io_ctl_capture},
	{"port", {UHCA_CTL_DEVICE, UHCA_CTL_ACTION}, io_ctl_port},
	{"device", {UHCA_CTL_DEVICE, UHCA_CTL_ACTION}, io_ctl_device},
	{"limit", {UHCA_CTL_DEVICE, UHCA_CTL_NAME, UHCA_CTL_VALUE}, io_ctl_limit},
	{"event", {UHCA_CTL_DEVICE, UHCA_CTL_NAME, UHCA_CTL_OF}, io_ctl_event},
	{"fault",
	 {UHCA_CTL_ACTION, UHCA_CTL_RULE, UHCA_CTL_TEXT, UHCA_CTL_FILE, UHCA_CTL_FROM},
	 io_ctl_fault},
	{"step",
	 {UHCA_CTL_DEVICE, UHCA_CTL_ACTION, UHCA_CTL_NUMBER, UHCA_CTL_COUNT, UHCA_CTL_FIELD,
	  UHCA_CTL_VALUE},
	 io_ctl_step},
	{"fabric",
	 {UHCA_CTL_ACTION, UHCA_CTL_TEXT, UHCA_CTL_DEVICE, UHCA_CTL_NUMBER},
	 io_ctl_fabric},
	{"walk", {UHCA_CTL_KEY, UHCA_CTL_OFFSET}, io_ctl_walk},
	{"log", {NULL}, io_ctl_log},
	{"version", {NULL}, version},
};

/* A member that this kind of request does not have, or NULL. */
static const char *unknown_member(const struct request_kind *kind, json_t *request)
{
	const char *key;
	json_t *value;

	json_object_foreach(request, key, value)
	{
		bool known = strcmp(key, UHCA_CTL_CMD) == 0;

		for (unsigned i = 0; i < MEMBERS_MAX && kind->members[i] && !known; i++)
			known = strcmp(key, kind->members[i]) == 0;
		if (!known)
			return key;
	}
	return NULL;
}

static json_t *execute(const struct io_services *h, json_t *request, struct ctl_outcome *o)
{
	const char *name = io_ctl_text(request, UHCA_CTL_CMD);
	const struct request_kind *kind;
	const char *key;

	if (!name)
		return io_ctl_refuse(o, "a request must be an object with \"%s\"", UHCA_CTL_CMD);
	kind = words_row(WORDS_ROWS(kinds), name);
	if (!kind)
		return io_ctl_refuse(o, "unknown command '%s'", name);
	key = unknown_member(kind, request);
	if (key)
		return io_ctl_refuse(o, "%s takes no member '%s'", name, key);
	return kind->handle(h, request, o);
}

/* Takes over the object. length: of the line, or NULL. */
static char *line_of(json_t *reply, size_t *length)
{
	char *text = reply ? json_dumps(reply, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	char *line = NULL;
	size_t len;

	json_decref(reply);
	if (!text)
		return NULL;
	len = strlen(text);
	line = realloc(text, len + 2);
	if (!line) {
		free(text);
		return NULL;
	}
	memcpy(line + len, "\n", 2);
	if (length)
		*length = len + 1;
	return line;
}

char *io_ctl_error(const char *text)
{
	return line_of(json_pack("{s:b, s:s}", UHCA_CTL_OK, 0, UHCA_CTL_ERROR, text), NULL);
}

/* What is told of a request may end within a character of it, and then is no text of JSON. */
static void keep_ascii(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			*text = '?';
}

static char *refusal(struct ctl_outcome *o, size_t *length)
{
	json_t *reply = json_pack("{s:b, s:s}", UHCA_CTL_OK, 0, UHCA_CTL_ERROR, o->error);

	if (!reply) {
		keep_ascii(o->error);
		reply = json_pack("{s:b, s:s}", UHCA_CTL_OK, 0, UHCA_CTL_ERROR, o->error);
	}
	if (reply && o->line > 0)
		json_object_set_new(reply, UHCA_CTL_LINE, json_integer(o->line));
	if (reply && o->column > 0)
		json_object_set_new(reply, UHCA_CTL_COLUMN, json_integer(o->column));
	return line_of(reply, length);
}

char *io_ctl_line(json_t *result, struct ctl_outcome *o, size_t *length)
{
	if (!result)
		return refusal(o, length);
	return line_of(json_pack("{s:b, s:o}", UHCA_CTL_OK, 1, UHCA_CTL_RESULT, result), length);
}

char *io_ctl_begin(const struct io_services *h, const char *line, size_t len,
		   struct ctl_file_request **file_request)
{
	struct ctl_outcome o = {.error = "no memory"};
	json_error_t error;
	json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
	json_t *result;

	*file_request = NULL;
	if (!request)
		return io_ctl_error("not a line of JSON");
	result = execute(h, request, &o);
	json_decref(request);
	*file_request = o.file_request;
	return o.file_request ? NULL : io_ctl_line(result, &o, NULL);
}

char *io_ctl_request(const struct io_services *h, const char *line, size_t len)
{
	struct io_services waiting = *h;
	struct ctl_file_request *none;

	waiting.tasks = NULL;
	return io_ctl_begin(&waiting, line, len, &none);
}
