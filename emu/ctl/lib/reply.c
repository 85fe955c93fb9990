/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes short requests, and reads replies of the daemon (reply.h). */
#include "reply.h"

#include "emu/abi/ctl.h"

#include <string.h>

json_t *ctl_command(const char *command, const char *action)
{
	return json_pack("{s:s, s:s}", UHCA_CTL_CMD, command, UHCA_CTL_ACTION, action);
}

json_t *ctl_command_show(const char *what)
{
	return json_pack("{s:s, s:s}", UHCA_CTL_CMD, "show", UHCA_CTL_WHAT, what);
}

/* Piece by piece. */
int ctl_fetch_trace(const char *dir, json_t *lines, json_int_t *lost, struct ctl_failure *f)
{
	json_int_t from = 0, next, end = 1;

	for (*lost = 0; from < end; from = next) {
		json_t *request = ctl_command("fault", "trace"), *piece;

		json_object_set_new(request, UHCA_CTL_FROM, json_integer(from));
		if (ctl_exchange(dir, request, &piece, f) != 0)
			return f->status;
		if (from == 0)
			*lost = ctl_number_in(piece, UHCA_CTL_LOST);
		json_array_extend(lines, json_object_get(piece, UHCA_CTL_LINES));
		next = ctl_number_in(piece, UHCA_CTL_NEXT);
		end = next > from ? ctl_number_in(piece, UHCA_CTL_END) : 0;
		json_decref(piece);
	}
	return 0;
}

static const char *text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text ? text : "";
}

const char *ctl_text_in(const json_t *object, const char *member)
{
	return text_of(json_object_get(object, member));
}

json_int_t ctl_number_in(const json_t *object, const char *member)
{
	return json_integer_value(json_object_get(object, member));
}

const char *ctl_column_name(const json_t *table, size_t column)
{
	const json_t *columns = json_object_get(table, UHCA_CTL_COLUMNS);

	return json_string_value(json_object_get(json_array_get(columns, column), UHCA_CTL_NAME));
}

int ctl_column(const json_t *table, const char *name)
{
	const size_t n = json_array_size(json_object_get(table, UHCA_CTL_COLUMNS));

	for (size_t i = 0; i < n; i++) {
		const char *is = ctl_column_name(table, i);

		if (is && strcmp(is, name) == 0)
			return (int)i;
	}
	return -1;
}

size_t ctl_rows(const json_t *table)
{
	return json_array_size(json_object_get(table, UHCA_CTL_ROWS));
}

/* The cells that both tables have, in the columns of the first. */
static json_t *row_for(const json_t *table, const json_t *more, size_t row)
{
	const json_t *cells = json_array_get(json_object_get(more, UHCA_CTL_ROWS), row);
	json_t *made = json_array();
	const char *name;

	for (size_t i = 0; (name = ctl_column_name(table, i)); i++) {
		const int from = ctl_column(more, name);

		if (from < 0)
			json_array_append_new(made, json_null());
		else
			json_array_append(made, json_array_get(cells, (size_t)from));
	}
	return made;
}

void ctl_append_rows(json_t *table, json_t *more)
{
	json_t *rows = json_object_get(table, UHCA_CTL_ROWS);

	if (ctl_rows(table) == 0)
		json_object_set(table, UHCA_CTL_COLUMNS, json_object_get(more, UHCA_CTL_COLUMNS));
	for (size_t i = 0; i < ctl_rows(more); i++)
		json_array_append_new(rows, row_for(table, more, i));
}

size_t ctl_row_with(const json_t *table, const char *column, json_int_t number)
{
	for (size_t i = 0; i < ctl_rows(table); i++)
		if (ctl_cell_number(table, i, column) == number)
			return i;
	return CTL_NO_ROW;
}

const json_t *ctl_cell(const json_t *table, size_t row, const char *column)
{
	const json_t *cells = json_array_get(json_object_get(table, UHCA_CTL_ROWS), row);
	int i = ctl_column(table, column);

	return i < 0 ? NULL : json_array_get(cells, (size_t)i);
}

const char *ctl_cell_text(const json_t *table, size_t row, const char *column)
{
	return text_of(ctl_cell(table, row, column));
}

json_int_t ctl_cell_number(const json_t *table, size_t row, const char *column)
{
	return json_integer_value(ctl_cell(table, row, column));
}
