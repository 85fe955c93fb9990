/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-serve: the server of the page, started by uhcactl serve and uhca-run --serve, which have
 * checked what they say: words of the form NAME=VALUE. Not a program that people call.
 */
#include "emu/ctl/lib/lib.h"
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAB_ASK_FD 3

static const char *value_of(const char *word, const char *name)
{
	size_t n = strlen(name);

	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static bool take_word(struct serve_options *o, const char *word)
{
	const struct {
		const char *name;
		const char **text;
	} texts[] = {{"dir", &o->dir},       {"file", &o->file},       {"socket", &o->socket},
		     {"listen", &o->listen}, {"command", &o->command}, {"lab", &o->lab},
		     {"work", &o->work}};
	const char *value;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		value = value_of(word, texts[i].name);
		if (!value)
			continue;
		*texts[i].text = value;
		return true;
	}
	if ((value = value_of(word, "port")) != NULL)
		o->port = (unsigned)strtoul(value, NULL, 10);
	else if ((value = value_of(word, "life")) != NULL)
		o->life_fd = atoi(value);
	else if ((value = value_of(word, "ready")) != NULL)
		o->ready_fd = atoi(value);
	else if (strcmp(word, "read-only") == 0)
		o->read_only = true;
	else if (strcmp(word, "quiet") == 0)
		o->quiet = true;
	else
		return false;
	return true;
}

/* scripts/lab reads what it is asked from descriptor 3, and answers to standard input. */
static bool begin_lab(struct server *s)
{
	int error = -EINVAL;

	s->lab.ask = LAB_ASK_FD;
	s->lab.reply = STDIN_FILENO;
	s->options.file = "last.pcapng";
	if (s->options.lab && s->options.work)
		error = lab_begin(&s->lab, s->options.lab, s->options.work);
	if (error < 0)
		fprintf(stderr, "uhca-serve: the folders of the lab: %s\n", strerror(-error));
	return error == 0;
}

int main(int argc, char **argv)
{
	static struct server s;
	int status;

	s.options.life_fd = s.options.ready_fd = -1;
	for (int i = 1; i < argc; i++) {
		if (take_word(&s.options, argv[i]))
			continue;
		fprintf(stderr, "uhca-serve: '%s' is not understood; call uhcactl serve\n",
			argv[i]);
		return CTL_EXIT_USAGE;
	}
	if ((s.options.lab || s.options.work) && !begin_lab(&s))
		return CTL_EXIT_FAILED;
	if (!s.options.dir && !s.options.file) {
		fprintf(stderr, "uhca-serve: call uhcactl serve\n");
		return CTL_EXIT_USAGE;
	}
	status = source_begin(&s.source, s.options.dir, s.options.file, s.lab.name != NULL);
	if (status == 0)
		status = server_run(&s);
	source_end(&s.source);
	return status;
}
