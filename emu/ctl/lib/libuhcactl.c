/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See uhcactl.h. Each call is one request to the daemon (ctl.h) on a connection of its own, so
 * that a daemon that was started anew is found again and threads do not meet.
 */
#include "uhcactl.h"

#include "clock.h"
#include "connection.h"
#include "emu/abi/ctl.h"
#include "emu/words/words.h"
#include "exit_status.h"
#include "instance_dir.h"
#include "reply.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_NS  1000000 /* between looks of uhcactl_fault_wait */
#define MS_IN_NS 1000000

struct uhcactl {
	char dir[PATH_MAX];
};

/* ---- asking ---- */

__attribute__((format(printf, 3, 4))) static int fail(struct uhcactl_error *error, int status,
						      const char *format, ...)
{
	va_list ap;

	if (!error)
		return status;
	error->column = 0;
	va_start(ap, format);
	vsnprintf(error->text, sizeof(error->text), format, ap);
	va_end(ap);
	return status;
}

/* Takes over the request. 0 and the result, or -errno. */
static int ask(const struct uhcactl *c, json_t *request, json_t **result,
	       struct uhcactl_error *error)
{
	struct ctl_failure f;

	*result = NULL;
	if (!request)
		return fail(error, -ENOMEM, "no memory");
	if (ctl_exchange(c->dir, request, result, &f) == 0)
		return 0;
	fail(error, 0, "%s", f.text);
	if (error)
		error->column = f.column;
	return f.status == CTL_EXIT_FAILED ? -EINVAL : -EIO;
}

/* For those who want no more than to know that it was done. */
static int order(const struct uhcactl *c, json_t *request, struct uhcactl_error *error)
{
	json_t *result;
	int status = ask(c, request, &result, error);

	json_decref(result);
	return status;
}

/* ---- the instance ---- */

static int find_dir(const char *instance, char dir[PATH_MAX])
{
	const char *around = getenv("UHCA_DIR");

	if (!instance && (!around || !*around))
		return ctl_instance_dir("default", dir, PATH_MAX);
	if (!instance)
		instance = around;
	else if (!strchr(instance, '/'))
		return ctl_instance_dir(instance, dir, PATH_MAX);
	if (strlen(instance) >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(dir, instance, strlen(instance) + 1);
	return 0;
}

struct uhcactl *uhcactl_open(const char *instance, struct uhcactl_error *error)
{
	struct uhcactl *c = calloc(1, sizeof(*c));

	if (!c) {
		fail(error, 0, "no memory");
		return NULL;
	}
	if (find_dir(instance, c->dir) < 0) {
		fail(error, 0, "'%.100s' is not a valid instance name", instance ? instance : "");
	} else if (order(c, json_pack("{s:s}", UHCA_CTL_CMD, "version"), error) == 0) {
		return c;
	}
	free(c);
	return NULL;
}

void uhcactl_close(struct uhcactl *c)
{
	free(c);
}

/* ---- rules ---- */

static int rule_number(const struct uhcactl *c, json_t *request, struct uhcactl_error *error)
{
	json_t *result;
	int status = ask(c, request, &result, error);

	if (status == 0)
		status = (int)ctl_number_in(result, UHCA_CTL_RULE);
	json_decref(result);
	return status;
}

int uhcactl_fault_add(struct uhcactl *c, const char *rule, struct uhcactl_error *error)
{
	json_t *request = ctl_command("fault", "add");

	json_object_set_new(request, UHCA_CTL_TEXT, json_string(rule));
	return rule_number(c, request, error);
}

int uhcactl_fault_now(struct uhcactl *c, const char *action, struct uhcactl_error *error)
{
	json_t *request = ctl_command("fault", "now");
	json_t *result;
	int status;

	json_object_set_new(request, UHCA_CTL_TEXT, json_string(action));
	status = ask(c, request, &result, error);
	if (status == 0)
		status = (int)ctl_number_in(result, UHCA_CTL_DEVICES);
	json_decref(result);
	return status;
}

int uhcactl_fault_change(struct uhcactl *c, int number, const char *rule,
			 struct uhcactl_error *error)
{
	json_t *request = ctl_command("fault", "change");
	int status;

	json_object_set_new(request, UHCA_CTL_RULE, json_integer(number));
	json_object_set_new(request, UHCA_CTL_TEXT, json_string(rule));
	status = rule_number(c, request, error);
	return status < 0 ? status : 0;
}

int uhcactl_fault_remove(struct uhcactl *c, int number, struct uhcactl_error *error)
{
	json_t *request = ctl_command("fault", "remove");

	json_object_set_new(request, UHCA_CTL_RULE, json_integer(number));
	return order(c, request, error);
}

int uhcactl_fault_clear(struct uhcactl *c, struct uhcactl_error *error)
{
	return order(c, ctl_command("fault", "clear"), error);
}

int64_t uhcactl_fault_hits(struct uhcactl *c, int number, struct uhcactl_error *error)
{
	int64_t hits = -ENOENT;
	const json_t *rule;
	json_t *list;
	size_t i;
	int status = ask(c, ctl_command("fault", "list"), &list, error);

	if (status < 0)
		return status;
	json_array_foreach(json_object_get(list, UHCA_CTL_RULES), i, rule)
	{
		if (ctl_number_in(rule, UHCA_CTL_RULE) == number)
			hits = ctl_number_in(rule, UHCA_CTL_HITS);
	}
	json_decref(list);
	if (hits < 0)
		fail(error, 0, "unknown rule %d", number);
	return hits;
}

int uhcactl_fault_wait(struct uhcactl *c, int number, uint64_t hits, unsigned timeout_ms,
		       struct uhcactl_error *error)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	uint64_t deadline = ctl_now() + (uint64_t)timeout_ms * MS_IN_NS;

	for (;;) {
		bool last = ctl_now() >= deadline;
		int64_t seen = uhcactl_fault_hits(c, number, error);

		if (seen < 0)
			return (int)seen;
		if ((uint64_t)seen >= hits)
			return 0;
		if (last)
			return fail(error, -ETIMEDOUT, "rule %d has fired %lld times, not %llu",
				    number, (long long)seen, (unsigned long long)hits);
		nanosleep(&pause, NULL);
	}
}

/* ---- devices ---- */

static json_t *of_device(json_t *request, const char *device)
{
	if (device)
		json_object_set_new(request, UHCA_CTL_DEVICE, json_string(device));
	return request;
}

int uhcactl_event(struct uhcactl *c, const char *device, const char *name,
		  struct uhcactl_error *error)
{
	const char *blank = strchr(name, ' ');
	size_t length = blank ? (size_t)(blank - name) : strlen(name);
	json_t *request =
		json_pack("{s:s, s:s%}", UHCA_CTL_CMD, "event", UHCA_CTL_NAME, name, length);

	if (blank)
		json_object_set_new(request, UHCA_CTL_OF, json_string(blank + 1));
	return order(c, of_device(request, device), error);
}

int uhcactl_port(struct uhcactl *c, const char *device, int up, struct uhcactl_error *error)
{
	return order(c, of_device(ctl_command("port", up ? "up" : "down"), device), error);
}

int uhcactl_device_fatal(struct uhcactl *c, const char *device, struct uhcactl_error *error)
{
	return order(c, of_device(ctl_command("device", "fatal"), device), error);
}

/* ---- counters: a table with a row for each device ---- */

/* CTL_NO_ROW: no such device, or not the only one. */
static size_t row_of(const json_t *table, const char *device)
{
	if (!device)
		return ctl_rows(table) == 1 ? 0 : CTL_NO_ROW;
	for (size_t i = 0; i < ctl_rows(table); i++)
		if (strcmp(ctl_cell_text(table, i, UHCA_CTL_DEVICE), device) == 0)
			return i;
	return CTL_NO_ROW;
}

/* A column of the table; the first has the devices. */
static const char *counter_at(const void *table, unsigned i)
{
	return ctl_column_name(table, i + 1);
}

int uhcactl_counter(struct uhcactl *c, const char *device, const char *name, uint64_t *value,
		    struct uhcactl_error *error)
{
	char hint[WORDS_HINT_MAX];
	const json_t *cell;
	json_t *table;
	size_t row;
	int status = ask(c, json_pack("{s:s}", UHCA_CTL_CMD, "counters"), &table, error);

	if (status < 0)
		return status;
	row = row_of(table, device);
	cell = ctl_cell(table, row, name);
	if (row == CTL_NO_ROW)
		status = fail(error, -ENOENT, "unknown device '%.100s'",
			      device ? device : "(which one?)");
	else if (!json_is_integer(cell))
		status = fail(error, -ENOENT, "unknown counter '%.100s'%s", name,
			      words_hint(words_nearest(name, strlen(name), counter_at, table), hint,
					 sizeof(hint)));
	else
		*value = (uint64_t)json_integer_value(cell);
	json_decref(table);
	return status;
}
