/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines of programs, from proc(5), as statements of a scenario (programs.h). */
#include "programs.h"

#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PORT_MIN 1024
#define PORT_MAX 65535

/* ---- reading ---- */

static size_t read_proc(int pid, const char *what, char *buf, size_t cap)
{
	char path[64];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	f = fopen(path, "re");
	if (f) {
		n = fread(buf, 1, cap - 1, f);
		fclose(f);
	}
	buf[n] = '\0';
	return n;
}

/* Of stat: the 22nd field, behind the name, which may hold anything. */
static uint64_t start_time(int pid)
{
	char text[1024], *at;

	read_proc(pid, "stat", text, sizeof(text));
	at = strrchr(text, ')');
	for (unsigned field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool read_command(int pid, char out[COMMAND_MAX])
{
	char words[COMMAND_MAX];
	size_t n = read_proc(pid, "cmdline", words, sizeof(words));

	out[0] = '\0';
	for (size_t at = 0; at < n; at += strlen(words + at) + 1) {
		if (strchr(words + at, '\n') || !ctl_add_shell_word(out, COMMAND_MAX, words + at))
			return false;
	}
	return out[0];
}

static bool is_known(const struct serve_programs *p, int pid)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->at[i].pid == pid)
			return true;
	return false;
}

static void note(struct serve_programs *p, int pid)
{
	struct serve_program new = {.pid = pid, .started = start_time(pid)};
	unsigned at = p->n;

	if (p->n == PROGRAMS_MAX || is_known(p, pid) || !read_command(pid, new.command))
		return;
	for (; at > 0 && p->at[at - 1].started > new.started; at--)
		p->at[at] = p->at[at - 1];
	p->at[at] = new;
	p->n++;
}

void programs_note(struct serve_programs *p, const json_t *clients)
{
	for (size_t i = 0; i < ctl_rows(clients); i++)
		note(p, (int)ctl_cell_number(clients, i, "pid"));
}

/* ---- statements ---- */

/* The next word that is a port's number, from *at on; 0: none. */
static unsigned long next_port(const char **at)
{
	while (**at) {
		size_t n = strcspn(*at, " ");
		char *end;
		unsigned long v = strtoul(*at, &end, 10);
		bool is_port = isdigit((unsigned char)**at) && end == *at + n && v >= PORT_MIN &&
			       v <= PORT_MAX;

		*at += n;
		*at += strspn(*at, " ");
		if (is_port)
			return v;
	}
	return 0;
}

static bool has_port(const char *command, unsigned long port)
{
	unsigned long v;

	while ((v = next_port(&command)) != 0)
		if (v == port)
			return true;
	return false;
}

/* A port of this program that one before it has, too. 0: none. */
static unsigned long shared_port(const struct serve_programs *p, unsigned index)
{
	const char *at = p->at[index].command;
	unsigned long port;

	while ((port = next_port(&at)) != 0)
		for (unsigned i = 0; i < index; i++)
			if (has_port(p->at[i].command, port))
				return port;
	return 0;
}

void programs_print(FILE *out, const struct serve_programs *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		unsigned long port = shared_port(p, i);

		if (port)
			fprintf(out, "after listen %lu: ", port);
		else if (i > 0)
			fputs("after 1s: ", out);
		fprintf(out, "run program%u: %s\n", i + 1, p->at[i].command);
	}
	if (p->n == 0)
		fputs("# No program had a device open while the page looked: write its command "
		      "here.\n# run program1: COMMAND\n",
		      out);
}
