/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See scenario_story.h.
 */
#include "scenario_story.h"

#include "story.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define BLOCK_MAX   (1u << 20)
#define BLOCK_LEAST 12u
#define TEXT_AT     20u /* in a record's block: behind type, length, number and time */

int scenario_story_open(struct scenario_story *s, const char *file)
{
	*s = (struct scenario_story){.fd = open(file, O_RDONLY | O_CLOEXEC)};
	return s->fd < 0 ? -errno : 0;
}

void scenario_story_close(struct scenario_story *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->record[i]);
	free(s->record);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct scenario_story){.fd = -1};
}

static int keep(struct scenario_story *s, uint32_t length)
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

int scenario_story_read(struct scenario_story *s)
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
		if (head[0] == UHCA_STORY_BLOCK && head[2] == UHCA_STORY_PEN &&
		    length >= TEXT_AT + 4)
			error = keep(s, length);
		if (error < 0)
			return error;
		s->offset += length;
	}
	return 0;
}

/* ---- words ---- */

struct span {
	const char *at;
	size_t len;
};

/* The value of a name in a record, without its quotes; at NULL: it is not there. */
static struct span value_of(const char *record, struct span name)
{
	const char *p = record;

	while (*p) {
		size_t len = strcspn(p, "= ");
		bool found = p[len] == '=' && len == name.len && strncmp(p, name.at, len) == 0;
		struct span v = {p + len + 1, 0};

		if (p[len] != '=') {
			p += len + (p[len] == ' ');
			continue;
		}
		if (*v.at == '"') {
			v.at++;
			while (v.at[v.len] && v.at[v.len] != '"')
				v.len += v.at[v.len] == '\\' && v.at[v.len + 1] ? 2 : 1;
			p = v.at + v.len + (v.at[v.len] == '"');
		} else {
			v.len = strcspn(v.at, " ");
			p = v.at + v.len;
		}
		if (found)
			return v;
		p += strspn(p, " ");
	}
	return (struct span){NULL, 0};
}

static bool number(struct span s, uint64_t *out)
{
	char text[32], *end;

	if (s.len == 0 || s.len >= sizeof(text) || s.at[0] < '0' || s.at[0] > '9')
		return false;
	memcpy(text, s.at, s.len);
	text[s.len] = '\0';
	*out = strtoull(text, &end, 0);
	return *end == '\0';
}

static bool equal(struct span a, struct span b)
{
	uint64_t x, y;

	if (number(a, &x) && number(b, &y))
		return x == y;
	return a.len == b.len && strncasecmp(a.at, b.at, a.len) == 0;
}

/* One word of what is asked for. */
static bool has(const char *record, struct span word)
{
	size_t name = 0;
	struct span asked, found;
	bool inverse;

	while (name < word.len && word.at[name] != '=' && word.at[name] != '!')
		name++;
	inverse = name < word.len && word.at[name] == '!';
	asked.at = word.at + name + 1 + inverse;
	asked.len = name + 1 + inverse < word.len ? word.len - name - 1 - inverse : 0;
	found = value_of(record, (struct span){word.at, name});
	return found.at && equal(found, asked) != inverse;
}

static bool matches(const char *record, const char *kind, const char *words)
{
	size_t len = strlen(kind);

	if (strncmp(record, kind, len) != 0 || (record[len] && record[len] != ' '))
		return false;
	for (const char *p = words + strspn(words, " \t"); *p;) {
		struct span word = {p, strcspn(p, " \t")};

		if (!has(record, word))
			return false;
		p += word.len;
		p += strspn(p, " \t");
	}
	return true;
}

uint64_t scenario_story_count(const struct scenario_story *s, const char *kind, const char *words)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += matches(s->record[i], kind, words);
	return n;
}
