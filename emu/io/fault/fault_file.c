/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads files of fault rules, line by line. */
#include "fault_file.h"

#include "emu/fault/plan/plans.h"
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static void say(struct io_fault_loaded *out,
						      const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(out->error.text, sizeof(out->error.text), format, ap);
	va_end(ap);
	out->error.column = 0;
}

/* Never waits: a pipe is not opened for long. -1: said why. */
static int open_file(const char *path, size_t *size, struct io_fault_loaded *out)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0) {
		say(out, "%.100s: %s", path, strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		say(out, "%.100s: not a regular file", path);
	else if (st.st_size > IO_FAULT_FILE_MAX)
		say(out, "%.100s: longer than %d bytes", path, IO_FAULT_FILE_MAX);
	else {
		*size = (size_t)st.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

/* False: said why. A file that shrinks meanwhile is what is left of it. */
static bool read_all(int fd, char *text, size_t *len, const char *path, struct io_fault_loaded *out)
{
	size_t size = *len;

	*len = 0;
	while (*len < size) {
		ssize_t n = read(fd, text + *len, size - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			say(out, "%.100s: %s", path, strerror(errno));
			return false;
		}
		if (n == 0)
			break;
		*len += (size_t)n;
	}
	text[*len] = '\0';
	if (memchr(text, '\0', *len)) {
		say(out, "%.100s: not a text", path);
		return false;
	}
	return true;
}

char *io_fault_read(const char *path, size_t *len, struct io_fault_loaded *out)
{
	char *text = NULL;
	int fd;

	*out = (struct io_fault_loaded){.rules = 0};
	fd = open_file(path, len, out);
	if (fd < 0)
		return NULL;
	text = malloc(*len + 1);
	if (!text)
		say(out, "no memory");
	if (text && !read_all(fd, text, len, path, out)) {
		free(text);
		text = NULL;
	}
	close(fd);
	return text;
}

static bool says_nothing(const char *line)
{
	line += strspn(line, " \t\r");
	return *line == '\0' || *line == '\n' || *line == '#';
}

/* Takes over r. */
static int append(struct io_fault_rules *all, struct fault_record *r, unsigned line)
{
	const unsigned cap = all->cap ? 2 * all->cap : 16;
	struct io_fault_line_rule *more;

	if (all->n == all->cap) {
		more = realloc(all->at, cap * sizeof(*more));
		if (!more) {
			fault_record_free(r);
			return -ENOMEM;
		}
		all->at = more;
		all->cap = cap;
	}
	all->at[all->n++] = (struct io_fault_line_rule){r, line};
	return 0;
}

static int parse_rule(struct io_fault_rules *all, const char *text, unsigned line,
		      struct io_fault_loaded *out)
{
	struct fault_record *r;
	int status;

	if (all->n >= FAULT_RULES_MAX) {
		say(out, "the limit of %u rules is reached", all->n);
		return -EINVAL;
	}
	status = fault_record_make(text, &r, &out->error);
	if (status == 0)
		status = append(all, r, line);
	if (status == -ENOMEM)
		say(out, "no memory");
	return status;
}

/*
 * One line: what looks at a rule looks at the whole text, and that is not to be all the rest of a
 * file. Of a line that is too long enough is left to be refused.
 */
static int parse_line(struct io_fault_rules *all, const char *line, size_t len, unsigned number,
		      struct io_fault_loaded *out)
{
	char one[2 * FAULT_TEXT_MAX];

	snprintf(one, sizeof(one), "%.*s", (int)(len < sizeof(one) ? len : sizeof(one)), line);
	return parse_rule(all, one, number, out);
}

int io_fault_parse(const char *text, struct io_fault_rules *all, struct io_fault_loaded *out)
{
	const char *end;
	unsigned line = 0;

	*all = (struct io_fault_rules){.n = 0};
	*out = (struct io_fault_loaded){.rules = 0};
	for (const char *p = text; *p; p = *end ? end + 1 : end) {
		int status;

		end = p + strcspn(p, "\n");
		line++;
		if (says_nothing(p))
			continue;
		status = parse_line(all, p, (size_t)(end - p), line, out);
		if (status == 0)
			continue;
		out->line = line;
		io_fault_rules_free(all);
		return status;
	}
	return 0;
}

void io_fault_rules_free(struct io_fault_rules *all)
{
	for (unsigned i = 0; i < all->n; i++)
		fault_record_free(all->at[i].rule);
	free(all->at);
	*all = (struct io_fault_rules){.n = 0};
}

int io_fault_take(struct io_faults *f, struct io_fault_rules *all, uint64_t now,
		  struct io_fault_loaded *out)
{
	const unsigned before = fault_plan_count(f->plan);
	int status = 0;

	for (unsigned i = 0; i < all->n && status >= 0; i++) {
		status = fault_plan_take(f->plan, all->at[i].rule, now, &out->error);
		if (status == -ENOMEM)
			say(out, "no memory");
		if (status < 0)
			out->line = all->at[i].line;
		else
			all->at[i].rule = NULL;
	}
	out->rules = status < 0 ? 0 : all->n;
	if (status < 0)
		fault_plan_cut(f->plan, before); /* all of them or none */
	else
		io_faults_trace_added(f, all->n, now);
	io_fault_rules_free(all);
	return status < 0 ? status : 0;
}

int io_fault_load(struct io_faults *f, const char *path, uint64_t now, struct io_fault_loaded *out)
{
	struct io_fault_rules all;
	size_t len;
	char *text = io_fault_read(path, &len, out);
	int error;

	if (!text)
		return -EINVAL;
	error = io_fault_parse(text, &all, out);
	if (error == 0)
		error = io_fault_take(f, &all, now, out);
	free(text);
	return error;
}

/* ---- traces ---- */

struct replay {
	struct io_fault_rules *all;
	struct io_fault_loaded *out;
};

static int replay_rule(void *user, const char *text)
{
	struct replay *r = user;

	return parse_rule(r->all, text, 0, r->out);
}

int io_fault_parse_trace(const char *name, const char *text, size_t len, struct io_fault_rules *all,
			 struct io_fault_loaded *out)
{
	static const struct fault_replay_ops ops = {.rule = replay_rule};
	struct replay r = {all, out};
	struct fault_trace_error error = {.line = 0};
	uint64_t seed;
	int status;

	*all = (struct io_fault_rules){.n = 0};
	*out = (struct io_fault_loaded){.rules = 0};
	status = fault_trace_to_plan(text, len, &seed, &ops, &r, &error);
	if (status == 0 && all->n == 0) {
		say(out, "%.100s: no line of it is a firing of a rule, as of 'uhcactl fault trace'",
		    name);
		return -EINVAL;
	}
	if (status == 0)
		return 0;
	io_fault_rules_free(all);
	if (error.line > 0) {
		out->line = error.line;
		say(out, "%s", error.text);
	}
	return status;
}
