/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints tables of the daemon as aligned columns or as JSON. */
#include "grid.h"

#include "emu/abi/ctl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CELL_MAX 600

/* A grid of texts: line 0 and, when transposed, column 0 are the headings. */
struct grid {
	const json_t *columns;
	const json_t *rows;
	bool transposed;
};

static size_t n_lines(const struct grid *g)
{
	return g->transposed ? json_array_size(g->columns) : json_array_size(g->rows) + 1;
}

static size_t n_cells(const struct grid *g)
{
	return g->transposed ? json_array_size(g->rows) + 1 : json_array_size(g->columns);
}

static const char *column_name(const struct grid *g, size_t i)
{
	const json_t *column = json_array_get(g->columns, i);
	const char *name = json_string_value(json_object_get(column, UHCA_CTL_NAME));

	return name ? name : "?";
}

/* Value of a row; *number tells that it stands to the right. */
static void value_text(const struct grid *g, size_t row, size_t column, char *out, bool *number)
{
	const json_t *v = json_array_get(json_array_get(g->rows, row), column);
	const json_t *hex = json_object_get(json_array_get(g->columns, column), UHCA_CTL_HEX);

	*number = !json_is_string(v);
	if (json_is_integer(v))
		snprintf(out, CELL_MAX, json_is_true(hex) ? "0x%" PRIx64 : "%" PRIu64,
			 (uint64_t)json_integer_value(v));
	else if (json_is_real(v))
		snprintf(out, CELL_MAX, "%.2f", json_real_value(v));
	else
		snprintf(out, CELL_MAX, "%s",
			 json_is_string(v) && *json_string_value(v) ? json_string_value(v) : "-");
	/* Programs choose their names. */
	for (char *c = out; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

static void cell_text(const struct grid *g, size_t line, size_t cell, char *out, bool *number)
{
	size_t row = g->transposed ? cell : line;
	size_t column = g->transposed ? line : cell;

	*number = g->transposed && cell > 0 && line > 0;
	if (row == 0)
		snprintf(out, CELL_MAX, "%s", column_name(g, column));
	else
		value_text(g, row - 1, column, out, number);
}

struct width {
	int width;
	bool number;
};

static void measure(const struct grid *g, struct width *w)
{
	char text[CELL_MAX];
	bool number;

	for (size_t line = 0; line < n_lines(g); line++) {
		for (size_t cell = 0; cell < n_cells(g); cell++) {
			cell_text(g, line, cell, text, &number);
			if ((int)strlen(text) > w[cell].width)
				w[cell].width = (int)strlen(text);
			w[cell].number = line == 0 || (w[cell].number && number);
		}
	}
}

static void print_grid(FILE *out, const struct grid *g, const struct width *w)
{
	char text[CELL_MAX];
	bool number;

	for (size_t line = 0; line < n_lines(g); line++) {
		for (size_t cell = 0; cell < n_cells(g); cell++) {
			bool last = cell + 1 == n_cells(g);

			cell_text(g, line, cell, text, &number);
			if (w[cell].number)
				fprintf(out, "%*s", w[cell].width, text);
			else
				fprintf(out, "%-*s", last ? 0 : w[cell].width, text);
			fputs(last ? "\n" : "  ", out);
		}
	}
}

static bool open_grid(struct grid *g, const json_t *table, bool transposed)
{
	g->columns = json_object_get(table, UHCA_CTL_COLUMNS);
	g->rows = json_object_get(table, UHCA_CTL_ROWS);
	g->transposed = transposed;
	return json_is_array(g->columns) && json_is_array(g->rows);
}

bool ctl_table_print(FILE *out, const json_t *table, bool transposed)
{
	struct grid g;
	struct width *w;

	if (!open_grid(&g, table, transposed))
		return false;
	w = calloc(n_cells(&g) + 1, sizeof(*w));
	if (!w)
		return false;
	measure(&g, w);
	print_grid(out, &g, w);
	free(w);
	return !ferror(out);
}

json_t *ctl_table_objects(const json_t *table)
{
	json_t *list = json_array();
	struct grid g;

	if (!list || !open_grid(&g, table, false)) {
		json_decref(list);
		return NULL;
	}
	for (size_t r = 0; r < json_array_size(g.rows); r++) {
		const json_t *row = json_array_get(g.rows, r);
		json_t *object = json_object();

		for (size_t c = 0; c < json_array_size(g.columns); c++)
			if (!json_is_null(json_array_get(row, c)))
				json_object_set(object, column_name(&g, c), json_array_get(row, c));
		json_array_append_new(list, object);
	}
	return list;
}

bool ctl_print_json(json_t *value)
{
	bool ok = value && json_dumpf(value, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF;

	json_decref(value);
	return ok;
}
