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
	if (ctl_exchange(dir, json_pack("{s:s, s:s}", UHCA_CTL_CMD, "show", UHCA_CTL_WHAT, what),
			 &table, &failure) != 0)
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

size_t table_rows_of(const json_t *table)
{
	return json_array_size(json_object_get(table, UHCA_CTL_ROWS));
}

const json_t *table_cell(const json_t *table, size_t row, const char *name)
{
	const json_t *columns = json_object_get(table, UHCA_CTL_COLUMNS);
	size_t i = 0;
	for (; i < json_array_size(columns); i++) {
		const char *n = json_string_value(
			json_object_get(json_array_get(columns, i), UHCA_CTL_NAME));
		if (n && strcmp(n, name) == 0)
			break;
	}
	return json_array_get(json_array_get(json_object_get(table, UHCA_CTL_ROWS), row), i);
}

const char *table_text(const json_t *table, size_t row, const char *name)
{
	const char *value = json_string_value(table_cell(table, row, name));
	return value ? value : "";
}

json_int_t table_number(const json_t *table, size_t row, const char *name)
{
	return json_integer_value(table_cell(table, row, name));
}

size_t table_row_of_qp(const struct hang_tables *t, const char *device, json_int_t qpn)
{
	for (size_t i = 0; i < table_rows_of(t->qps); i++)
		if (table_number(t->qps, i, "qpn") == qpn &&
		    strcmp(table_text(t->qps, i, "device"), device) == 0)
			return i;
	return HANG_NO_ROW;
}

size_t table_row_of_client(const struct hang_tables *t, json_int_t client)
{
	for (size_t i = 0; i < table_rows_of(t->clients); i++)
		if (table_number(t->clients, i, "client") == client)
			return i;
	return HANG_NO_ROW;
}

const char *table_program_of(const struct hang_tables *t, json_int_t pid)
{
	for (size_t i = 0; i < table_rows_of(t->clients); i++)
		if (table_number(t->clients, i, "pid") == pid)
			return table_text(t->clients, i, "program");
	return "a program";
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
	for (size_t i = 0; i < table_rows_of(t->devices); i++)
		if (is_listed(table_text(t->devices, i, "addresses"), address))
			return table_text(t->devices, i, "device");
	return NULL;
}
