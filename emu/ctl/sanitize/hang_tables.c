/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the daemon for its tables, and reads their cells. See hang_tables.h. */
#include "hang_tables.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"

#include <string.h>

static json_t *get_table(const char *dir, const char *what)
{
	struct ctl_failure failure;
	json_t *table = NULL;
	if (ctl_exchange(dir, ctl_command_show(what), &table, &failure) != 0)
		return NULL;
	return table;
}

bool hang_ask_daemon(struct hang_tables *t, const json_t *line)
{
	const char *dir = json_string_value(json_object_get(json_object_get(line, "hang"), "dir"));
	*t = (struct hang_tables){0};
	if (!dir || !*dir)
		return false;
	t->qps = get_table(dir, "qp");
	t->clients = t->qps ? get_table(dir, "client") : NULL;
	t->devices = t->clients ? get_table(dir, "device") : NULL;
	t->ids = t->devices ? get_table(dir, "cm_id") : NULL;
	if (!t->ids)
		hang_drop_tables(t);
	return t->ids;
}

void hang_drop_tables(struct hang_tables *t)
{
	json_decref(t->qps);
	json_decref(t->clients);
	json_decref(t->devices);
	json_decref(t->ids);
	*t = (struct hang_tables){0};
}

size_t table_row_of_qp(const struct hang_tables *t, const char *device, json_int_t qpn)
{
	for (size_t i = 0; i < ctl_rows(t->qps); i++)
		if (ctl_cell_number(t->qps, i, "qpn") == qpn &&
		    strcmp(ctl_cell_text(t->qps, i, "device"), device) == 0)
			return i;
	return CTL_NO_ROW;
}

const char *table_program_of(const struct hang_tables *t, json_int_t pid)
{
	size_t row = ctl_row_with(t->clients, "pid", pid);
	return row == CTL_NO_ROW ? "a program" : ctl_cell_text(t->clients, row, "program");
}

static bool is_listed(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == n && strncmp(list, word, n) == 0)
			return true;
	return false;
}

const char *table_device_at(const struct hang_tables *t, const char *address)
{
	for (size_t i = 0; i < ctl_rows(t->devices); i++)
		if (is_listed(ctl_cell_text(t->devices, i, "addresses"), address))
			return ctl_cell_text(t->devices, i, "device");
	return NULL;
}
