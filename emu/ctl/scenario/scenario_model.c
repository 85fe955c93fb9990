/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the records of a capture while the daemon is still writing it. */
#include "scenario_model.h"

#include "emu/abi/packet_metadata.h"
#include "emu/model/read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define BLOCK_MAX   (1u << 20)
#define BLOCK_LEAST 12u
#define TEXT_AT     20u /* in a record's block: behind type, length, number and time */

int scenario_model_open(struct scenario_model *s, const char *file)
{
	*s = (struct scenario_model){.fd = open(file, O_RDONLY | O_CLOEXEC)};
	return s->fd < 0 ? -errno : 0;
}

void scenario_model_close(struct scenario_model *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->record[i]);
	free(s->record);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct scenario_model){.fd = -1};
}

static int keep(struct scenario_model *s, uint32_t length)
{
	uint32_t cap = length - TEXT_AT - 4; /* the length stands at the end as well */
	char *text = malloc(cap + 1);
	char **more = s->record;

	if (s->n == s->room)
		more = realloc(s->record, (s->room + 256) * sizeof(*more));
	if (!text || !more ||
	    pread(s->fd, text, cap, (off_t)(s->offset + TEXT_AT)) != (ssize_t)cap) {
		free(text);
		s->record = more ? more : s->record;
		return -ENOMEM;
	}
	if (s->n == s->room)
		s->room += 256;
	text[cap] = '\0';
	s->record = more;
	s->record[s->n++] = text;
	return 0;
}

int scenario_model_read(struct scenario_model *s)
{
	off_t size = lseek(s->fd, 0, SEEK_END);
	uint32_t head[3];

	while (pread(s->fd, head, sizeof(head), (off_t)s->offset) == sizeof(head)) {
		uint32_t length = head[1];
		int error = 0;

		if (length < BLOCK_LEAST || length > BLOCK_MAX || length % 4)
			return -EPROTO;
		if (s->offset + length > (uint64_t)size)
			break; /* the rest of it is still to come */
		if (head[0] == UHCA_MODEL_BLOCK && head[2] == UHCA_MODEL_PEN &&
		    length >= TEXT_AT + 4)
			error = keep(s, length);
		if (error < 0)
			return error;
		s->offset += length;
	}
	return 0;
}

/* ---- words ---- */

/* A copy of a text that is split. */
struct words {
	char text[UHCA_MODEL_MAX];
	struct model_word word[MODEL_WORDS_MAX];
	unsigned n;
};

static void split(struct words *w, const char *text)
{
	snprintf(w->text, sizeof(w->text), "%s", text);
	for (char *tab = w->text; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	w->n = model_words_split(w->text, w->word, MODEL_WORDS_MAX);
}

static bool equal(const char *a, const char *b)
{
	uint64_t x, y;

	if (model_words_number(a, &x) && model_words_number(b, &y))
		return x == y;
	return strcasecmp(a, b) == 0;
}

/* One word of what is asked for; "NAME!" as name: it must be another value. */
static bool has(const struct words *record, const struct model_word *asked)
{
	char name[UHCA_MODEL_MAX];
	size_t len = strlen(asked->name);
	bool inverse = len > 0 && asked->name[len - 1] == '!';
	const char *found;

	snprintf(name, sizeof(name), "%.*s", (int)(len - inverse), asked->name);
	found = model_words_find(record->word, record->n, name);
	return found && asked->value && equal(found, asked->value) != inverse;
}

static bool matches(const char *record, const char *kind, const struct words *asked)
{
	size_t len = strlen(kind);
	struct words w;

	if (strncmp(record, kind, len) != 0 || (record[len] && record[len] != ' '))
		return false;
	split(&w, record);
	for (unsigned i = 0; i < asked->n; i++)
		if (!has(&w, &asked->word[i]))
			return false;
	return true;
}

uint64_t scenario_model_count(const struct scenario_model *s, const char *kind, const char *words)
{
	struct words asked;
	uint64_t n = 0;

	split(&asked, words);
	for (size_t i = 0; i < s->n; i++)
		n += matches(s->record[i], kind, &asked);
	return n;
}
