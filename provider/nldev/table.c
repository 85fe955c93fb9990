/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See table.h. The daemon writes JSON without blanks, and tables of texts, numbers and null: no
 * more is understood. Texts with a backslash keep it.
 */
#include "table.h"

#include "emu/abi/ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST_BYTES (64u << 20) /* of a reply */
#define TIMEOUT_S  5           /* seconds */

/* ---- the reply ---- */

static int connect_to(const char *root)
{
	const struct timeval timeout = {.tv_sec = TIMEOUT_S};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int n = snprintf(un.sun_path, sizeof(un.sun_path), "%s/" UHCA_CTL_SOCKET, root);
	int fd;

	if (n < 0 || (size_t)n >= sizeof(un.sun_path))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Up to the end of the line; NULL: it does not come. */
static char *read_line(int fd)
{
	size_t room = 65536, n = 0;
	char *line = malloc(room), *more;
	ssize_t got;

	while (line && !memchr(line, '\n', n)) {
		more = n + 1 < room ? line : room < MOST_BYTES ? realloc(line, room *= 2) : NULL;
		got = more ? recv(fd, more + n, room - 1 - n, 0) : -1;
		if (got <= 0) {
			free(more ? more : line);
			return NULL;
		}
		line = more;
		n += (size_t)got;
		line[n] = '\0';
	}
	return line;
}

bool uhca_table_ask(struct uhca_table *t, const char *root, const char *what)
{
	char request[128], *reply = NULL;
	int fd = connect_to(root);
	int n = snprintf(request, sizeof(request),
			 "{\"" UHCA_CTL_CMD "\":\"show\",\"" UHCA_CTL_WHAT "\":\"%s\"}\n", what);

	*t = (struct uhca_table){.text = NULL};
	if (fd < 0)
		return false;
	if (send(fd, request, (size_t)n, MSG_NOSIGNAL) == n)
		reply = read_line(fd);
	close(fd);
	return reply && uhca_table_parse(t, reply);
}

/* ---- its parts ---- */

/* Behind this text, which stands here; NULL: it does not. */
static char *behind(char *at, const char *text)
{
	size_t n = strlen(text);

	return at && strncmp(at, text, n) == 0 ? at + n : NULL;
}

/* A text between quotes, which becomes a string; *next is behind it. */
static char *take_text(char *at, char **next)
{
	char *end = at + 1;

	while (*end && *end != '"')
		end += *end == '\\' && end[1] ? 2 : 1;
	if (!*end)
		return NULL;
	*end = '\0';
	*next = end + 1;
	return at + 1;
}

/* {"name":"qpn","hex":true},... to the bracket behind them. */
static char *take_columns(struct uhca_table *t, char *at)
{
	while (at && *at == '{' && t->n_columns < UHCA_TABLE_COLUMNS) {
		at = behind(at, "{\"" UHCA_CTL_NAME "\":");
		if (!at || *at != '"' || !(t->column[t->n_columns++] = take_text(at, &at)))
			return NULL;
		at = strchr(at, '}');
		at = at && at[1] == ',' ? at + 2 : at ? at + 1 : NULL;
	}
	return at && *at == ']' ? at + 1 : NULL;
}

/* A value: a text, a number or null; *end is what stands behind it, and makes room for its NUL. */
static char *take_value(char *at, char **next, char *end)
{
	char *value = at;

	if (*at == '"')
		value = take_text(at, next);
	else
		*next = at + strcspn(at, ",]");
	if (!value || !**next)
		return NULL;
	*end = **next;
	**next = '\0';
	++*next;
	return value;
}

/* [value,...] of one row; behind it. */
static char *take_row(struct uhca_table *t, char *at)
{
	char **cell = reallocarray(t->cell, (size_t)(t->n_rows + 1) * t->n_columns, sizeof(*cell));
	char end = ',';

	if (!cell)
		return NULL;
	t->cell = cell;
	cell += (size_t)t->n_rows * t->n_columns;
	for (unsigned i = 0; i < t->n_columns; i++) {
		cell[i] = end == ',' ? take_value(at, &at, &end) : NULL;
		if (!cell[i])
			return NULL;
		if (strcmp(cell[i], "null") == 0)
			cell[i] = NULL;
	}
	t->n_rows++;
	return end == ']' ? at : NULL;
}

static char *take_rows(struct uhca_table *t, char *at)
{
	while (at && *at == '[') {
		if (!t->n_columns)
			return NULL;
		at = take_row(t, at + 1);
		if (at && *at == ',')
			at++;
	}
	return at && *at == ']' ? at : NULL;
}

bool uhca_table_parse(struct uhca_table *t, char *reply)
{
	char *at;

	*t = (struct uhca_table){.text = reply};
	at = behind(reply, "{\"" UHCA_CTL_OK "\":true,\"" UHCA_CTL_RESULT "\":{\"" UHCA_CTL_COLUMNS
			   "\":[");
	at = behind(at ? take_columns(t, at) : NULL, ",\"" UHCA_CTL_ROWS "\":[");
	return take_rows(t, at);
}

void uhca_table_free(struct uhca_table *t)
{
	free(t->cell);
	free(t->text);
	*t = (struct uhca_table){.text = NULL};
}

/* ---- its cells ---- */

const char *uhca_table_text(const struct uhca_table *t, unsigned row, const char *column)
{
	for (unsigned i = 0; i < t->n_columns; i++)
		if (strcmp(t->column[i], column) == 0) {
			const char *cell = t->cell[(size_t)row * t->n_columns + i];

			return cell ? cell : "";
		}
	return "";
}

uint64_t uhca_table_number(const struct uhca_table *t, unsigned row, const char *column)
{
	return strtoull(uhca_table_text(t, row, column), NULL, 10);
}
