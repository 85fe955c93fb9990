/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of output: compared, and searched for stacks. */
#include "sweep_text.h"

#include "sweep_judge.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define OURS        "uhca-run: "
#define OF_DAEMON   "  | " /* its warnings, as uhca-run shows them */
#define STACK_LINES 12     /* of a report of the program's own sanitizer */

struct lines {
	char **at;
	size_t n;
};

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

static size_t length_of(const char *line)
{
	return strcspn(line, "\n");
}

/* 0x1234 and 1234 become N, and so does a word of hexadecimal digits with a digit in it. */
static size_t number_at(const char *at)
{
	size_t n = strspn(at, "0123456789abcdefABCDEFx");

	return n > 0 && strcspn(at, "0123456789") < n && !isalpha((unsigned char)at[n]) ? n : 0;
}

static char *plain(const char *line, size_t n)
{
	char *out = malloc(n + 1), *to = out;

	for (size_t i = 0; out && i < n;) {
		const bool starts = i == 0 || !isalnum((unsigned char)line[i - 1]);
		size_t number = starts ? number_at(line + i) : 0;

		if (number == 0 && isdigit((unsigned char)line[i]))
			number = strspn(line + i, "0123456789");
		if (number > n - i)
			number = n - i;
		*to++ = number ? 'N' : line[i];
		i += number ? number : 1;
	}
	if (out)
		*to = '\0';
	return out;
}

static bool has(const char *known, const char *line)
{
	const size_t n = strlen(line);

	for (const char *at = known; at && *at; at += length_of(at) + (at[length_of(at)] == '\n'))
		if (length_of(at) == n && strncmp(at, line, n) == 0)
			return true;
	return false;
}

static void keep(struct lines *l, char *line, const char *known)
{
	char **more = NULL;

	if (line && *line && !has(known, line))
		more = reallocarray(l->at, l->n + 1, sizeof(*more));
	if (!more) {
		free(line);
		return;
	}
	l->at = more;
	l->at[l->n++] = line;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each once. */
static char *join(struct lines *l)
{
	size_t cap = 1, used = 0;
	char *out;

	if (l->n > 0)
		qsort(l->at, l->n, sizeof(*l->at), compare);
	for (size_t i = 0; i < l->n; i++)
		cap += strlen(l->at[i]) + 1;
	out = calloc(1, cap);
	for (size_t i = 0; out && i < l->n; i++)
		if (i == 0 || strcmp(l->at[i], l->at[i - 1]) != 0)
			used += (size_t)sprintf(out + used, "%s\n", l->at[i]);
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i]);
	free(l->at);
	return out;
}

static bool is_hang(const char *line)
{
	const char *at = begins(line, OURS) ? strstr(line, SWEEP_HANG_LINE) : NULL;

	return at && at < line + length_of(line);
}

char *sweep_text_said(const char *output, const char *known)
{
	struct lines l = {.n = 0};

	for (const char *at = output; *at && !is_hang(at);) {
		const size_t n = length_of(at);

		if (!begins(at, OURS) && !begins(at, OF_DAEMON))
			keep(&l, plain(at, n), known);
		at += n + (at[n] == '\n');
	}
	return join(&l);
}

/* ---- a hang ---- */

/*
 * The frames of a thread that say where its program is. Of the libraries in which it waits the
 * outermost function stays, whichever of them it is in just now.
 */
struct thread {
	FILE *out;
	const char *name;  /* "(NAME)..."; NULL: none is open */
	const char *inner; /* the last frame of a library that others hide */
	const char *last;
	unsigned frames;
};

static bool same_line(const char *a, const char *b)
{
	return a && length_of(a) == length_of(b) && strncmp(a, b, length_of(a)) == 0;
}

static bool is_in(const char *frame, const char *const *modules)
{
	for (; *modules; modules++) {
		const char *at = strstr(frame, *modules);

		if (at && at < frame + length_of(frame))
			return true;
	}
	return false;
}

static void put_frame(struct thread *t, const char *frame)
{
	if (t->frames++ == 0)
		fprintf(t->out, "%.*s\n", (int)strcspn(t->name, ")\n") + 1, t->name);
	fprintf(t->out, "  #%u %.*s\n", t->frames - 1, (int)length_of(frame), frame);
}

static void take_frame(struct thread *t, const char *frame)
{
	static const char *const waits[] = {"(libuhca", "(libc.so.", "(ld-linux", "(libpthread",
					    NULL};
	/* where each stack begins; and shells, which wait for what they have started */
	static const char *const others[] = {"__libc_start", "_start (", "start_thread ", "clone3 ",
					     "__clone",      "(dash)",   "(bash)",        NULL};

	if (!t->name || is_in(frame, others) || same_line(t->last, frame))
		return;
	t->last = frame;
	if (is_in(frame, waits)) {
		t->inner = frame;
		return;
	}
	if (t->inner)
		put_frame(t, t->inner);
	t->inner = NULL;
	put_frame(t, frame);
}

/* "thread 12 (NAME) waits in ...": whether it waits or looks just now is chance. */
static void begin_thread(struct thread *t, const char *line)
{
	const char *name = memchr(line, '(', length_of(line));

	*t = (struct thread){.out = t->out, .name = name};
}

char *sweep_text_hang(const char *output)
{
	const char thread[] = OURS "  thread ", frame[] = OURS "    #";
	struct thread t = {.name = NULL};
	char *text = NULL;
	size_t size;
	bool inside = false;

	t.out = open_memstream(&text, &size);
	for (const char *at = output; t.out && *at;) {
		const size_t n = length_of(at);

		inside |= is_hang(at);
		if (inside && begins(at, thread))
			begin_thread(&t, at);
		else if (inside && begins(at, frame))
			take_frame(&t,
				   at + sizeof(frame) + strspn(at + sizeof(frame), "0123456789 "));
		at += n + (at[n] == '\n');
	}
	if (t.out)
		fclose(t.out);
	return text;
}

/* ---- reports of other sanitizers ---- */

/* "    #0 0x5555 in main a.c:7": without the address. */
static const char *frame_of(const char *line, size_t *n)
{
	const char *at = line + strspn(line, " "), *in = strstr(at, " in ");

	if (*at != '#' || !in || in > line + *n)
		return NULL;
	*n -= (size_t)(in + 4 - line);
	return in + 4;
}

static char *stack_behind(const char *line)
{
	char *text = NULL;
	size_t size, n;
	FILE *out = open_memstream(&text, &size);
	unsigned frames = 0;

	for (const char *at = line; out && *at && frames < STACK_LINES; at += n + (at[n] == '\n')) {
		size_t rest = n = length_of(at);
		const char *frame = frame_of(at, &rest);

		if (frame)
			fprintf(out, "  #%u %.*s\n", frames++, (int)rest, frame);
		else if (frames > 0)
			break;
	}
	if (out)
		fclose(out);
	return text;
}

void sweep_text_asan(const char *output, const char *name, char **what, char **stack)
{
	const char *found = strstr(output, name);

	*what = *stack = NULL;
	if (!found)
		return;
	*what = plain(found, length_of(found));
	*stack = stack_behind(found + length_of(found));
}
