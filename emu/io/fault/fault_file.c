/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See fault_file.h.
 */
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

/* Takes back the newest ones: none of the file is there. */
static void take_back(struct fault_plan *p, struct io_fault_loaded *out)
{
	for (; out->rules > 0; out->rules--)
		fault_plan_remove(p, fault_plan_entry(p, fault_plan_count(p) - 1)->number);
}

int io_fault_add_lines(struct io_faults *f, const char *text, uint64_t now,
		       struct io_fault_loaded *out)
{
	const char *end;
	unsigned line = 0;

	*out = (struct io_fault_loaded){.rules = 0};
	for (const char *p = text; *p; p = *end ? end + 1 : end) {
		int number;

		end = p + strcspn(p, "\n");
		line++;
		if (says_nothing(p))
			continue;
		number = fault_plan_add(f->plan, p, now, &out->error);
		if (number > 0) {
			out->rules++;
			continue;
		}
		if (number == -ENOMEM)
			say(out, "no memory");
		take_back(f->plan, out);
		out->line = line;
		return number;
	}
	io_faults_tell_added(f, out->rules, now);
	return 0;
}

int io_fault_load(struct io_faults *f, const char *path, uint64_t now, struct io_fault_loaded *out)
{
	size_t len;
	char *text = io_fault_read(path, &len, out);
	int error;

	if (!text)
		return -EINVAL;
	error = io_fault_add_lines(f, text, now, out);
	free(text);
	return error;
}

/* ---- traces ---- */

struct replay {
	struct io_faults *f;
	uint64_t now;
	struct io_fault_loaded *out;
};

static int replay_rule(void *user, const char *text)
{
	struct replay *r = user;
	int number = fault_plan_add(r->f->plan, text, r->now, &r->out->error);

	if (number < 0)
		return number;
	r->out->rules++;
	return 0;
}

int io_fault_replay(struct io_faults *f, const char *path, uint64_t now,
		    struct io_fault_loaded *out)
{
	static const struct fault_replay_ops ops = {.rule = replay_rule};
	struct replay r = {f, now, out};
	struct fault_trace_error error = {.line = 0};
	uint64_t seed;
	size_t len;
	char *text = io_fault_read(path, &len, out);
	int status;

	if (!text)
		return -EINVAL;
	status = fault_trace_to_plan(text, len, &seed, &ops, &r, &error);
	free(text);
	if (status == 0 && out->rules == 0) {
		say(out, "%.100s: no rule of this trace ever fired", path);
		return -EINVAL;
	}
	if (status == 0) {
		io_faults_tell_added(f, out->rules, now);
		return 0;
	}
	take_back(f->plan, out);
	if (error.line > 0) {
		out->line = error.line;
		say(out, "%s", error.text);
	}
	return status;
}
