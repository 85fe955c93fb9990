/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network as a text: one statement on each line, "#" begins a comment.
 *
 *   class 3 lossless=1 kmin=100K kmax=400K pmax=20%    settings of a traffic class
 *   pause quanta=65535                                 of PFC frames
 *   default link rate=100G delay=1us                   settings of all that follow
 *   default switch buffer=32M alpha=1/8
 *   switch leaf[0-3] buffer=16M                        nodes; [0-3] stands for four names
 *   host h[0-15]
 *   link h[0-15] leaf0 rate=25G                        each of the left with each of the right
 */
#include "topology.h"

#include "emu/words/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct fabric_topology *t;
	struct fabric_error *e;
	const char *line; /* with its end replaced by NUL */
	const char *at;
};

/* A name with a range, taken apart: "h[0-15]" is "h", 0 to 15, "". */
struct names {
	const char *at;
	size_t length;
	size_t head; /* bytes before the bracket */
	size_t tail; /* where the text behind it begins */
	unsigned long first, last;
	bool range;
};

static int refuse_at(struct reader *r, const char *at, const char *what, const char *word,
		     size_t length)
{
	return fabric_refuse(r->e, r->line, at, "%s '%.*s'", what, length < 64 ? (int)length : 64,
			     word);
}

/* The next word of the line; length 0 at its end. */
static const char *next_word(struct reader *r, size_t *length)
{
	const char *word;

	r->at += strspn(r->at, " \t\r");
	if (*r->at == '#')
		r->at += strlen(r->at);
	word = r->at;
	*length = strcspn(word, " \t\r#");
	r->at += *length;
	return word;
}

static bool name_letter(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

static int read_range(struct reader *r, struct names *n, const char *open)
{
	char *end;

	n->range = true;
	n->head = (size_t)(open - n->at);
	if (!isdigit((unsigned char)open[1]))
		return refuse_at(r, open + 1, "a range is [FIRST-LAST], not", n->at, n->length);
	n->first = strtoul(open + 1, &end, 10);
	if (*end != '-' || !isdigit((unsigned char)end[1]))
		return refuse_at(r, end, "a range is [FIRST-LAST], not", n->at, n->length);
	n->last = strtoul(end + 1, &end, 10);
	if (*end != ']' || end >= n->at + n->length)
		return refuse_at(r, end, "a range is [FIRST-LAST], not", n->at, n->length);
	if (n->last < n->first || n->last - n->first >= FABRIC_NODES_MAX)
		return refuse_at(r, open, "no such range:", n->at, n->length);
	n->tail = (size_t)(end + 1 - n->at);
	return 0;
}

static int read_names(struct reader *r, struct names *n, const char *word, size_t length)
{
	const char *open = memchr(word, '[', length);

	*n = (struct names){.at = word, .length = length, .head = length, .tail = length};
	if (open && read_range(r, n, open) < 0)
		return -EINVAL;
	for (size_t i = 0; i < length; i++)
		if ((i < n->head || i >= n->tail) && !name_letter(word[i]))
			return refuse_at(r, word + i,
					 "a name has letters, digits, '.', '_', '-', not", word + i,
					 1);
	return 0;
}

/* Name number i of them, in buf. */
static int name_of(struct reader *r, const struct names *n, unsigned long i, char *buf)
{
	const int length =
		n->range ? snprintf(buf, FABRIC_NAME_MAX + 1, "%.*s%lu%.*s", (int)n->head, n->at,
				    n->first + i, (int)(n->length - n->tail), n->at + n->tail)
			 : snprintf(buf, FABRIC_NAME_MAX + 1, "%.*s", (int)n->length, n->at);

	if (length > (int)FABRIC_NAME_MAX)
		return fabric_refuse(r->e, r->line, n->at, "a name has at most %u characters",
				     FABRIC_NAME_MAX);
	return 0;
}

static unsigned long count_of(const struct names *n)
{
	return n->range ? n->last - n->first + 1 : 1;
}

/* KEY=VALUE words to the end of the line; "word" is the first, of this length. */
static int read_settings(struct reader *r, const char *word, size_t length,
			 const struct fabric_spec_key *keys)
{
	for (; length; word = next_word(r, &length)) {
		const char *equals = memchr(word, '=', length);
		const struct fabric_spec_key *key;

		if (!equals)
			return refuse_at(r, word, "expected KEY=VALUE, not", word, length);
		key = fabric_spec_key(r->line, word, (size_t)(equals - word), keys, r->e);
		if (!key || fabric_spec_value(r->line, equals + 1,
					      length - (size_t)(equals + 1 - word), key, r->e) < 0)
			return -EINVAL;
	}
	return 0;
}

static int add_nodes(struct reader *r, const struct names *n, bool is_switch)
{
	char name[FABRIC_NAME_MAX + 1];

	for (unsigned long i = 0; i < count_of(n); i++) {
		int64_t got;

		if (name_of(r, n, i, name) < 0)
			return -EINVAL;
		got = fabric_topology_node(r->t, name, is_switch);
		if (got == -ENOMEM)
			return -ENOMEM;
		if (got == -EEXIST)
			return fabric_refuse(r->e, r->line, n->at, "there is a node %s already",
					     name);
		if (got < 0)
			return fabric_refuse(r->e, r->line, n->at, "more than %u nodes",
					     FABRIC_NODES_MAX);
	}
	return 0;
}

/* "switch NAME... KEY=VALUE..." and "host NAME...". */
static int read_nodes(struct reader *r, bool is_switch)
{
	struct fabric_switch_settings settings = r->t->switch_each;
	struct fabric_spec_key keys[FABRIC_KEYS_MAX];
	const uint32_t first = r->t->n_nodes;
	size_t length;
	const char *word = next_word(r, &length);
	struct names n;
	int status;

	if (!length)
		return fabric_refuse(r->e, r->line, word, "expected a name");
	for (; length && !memchr(word, '=', length); word = next_word(r, &length)) {
		if (read_names(r, &n, word, length) < 0)
			return -EINVAL;
		status = add_nodes(r, &n, is_switch);
		if (status < 0)
			return status;
	}
	if (length && !is_switch)
		return refuse_at(r, word, "a host has no settings:", word, length);
	fabric_switch_keys(&settings, keys);
	if (read_settings(r, word, length, keys) < 0)
		return -EINVAL;
	for (uint32_t i = first; i < r->t->n_nodes; i++)
		r->t->nodes[i].settings = settings;
	return 0;
}

static const char *node_at(const void *table, unsigned i)
{
	const struct fabric_topology *t = table;

	/* Of large networks some: the list is for people. */
	return i < t->n_nodes && i < 64 ? t->nodes[i].name : NULL;
}

static int find_node(struct reader *r, const struct names *n, unsigned long i, uint32_t *node)
{
	char name[FABRIC_NAME_MAX + 1], said[300];

	if (name_of(r, n, i, name) < 0)
		return -EINVAL;
	*node = fabric_topology_find(r->t, name, strlen(name));
	if (*node != UINT32_MAX)
		return 0;
	return fabric_refuse(r->e, r->line, n->at, "%s",
			     words_refuse(said, sizeof(said), "node", name, node_at, r->t));
}

static int add_link(struct reader *r, const char *at, uint32_t a, uint32_t b,
		    const struct fabric_link_settings *s)
{
	const struct fabric_node *nodes = r->t->nodes;
	const int status = fabric_topology_link(r->t, a, b, s);

	switch (status) {
	case -EINVAL:
		return fabric_refuse(r->e, r->line, at, "a link of %s to itself", nodes[a].name);
	case -EBUSY:
		return fabric_refuse(r->e, r->line, at, "host %s has a link already",
				     nodes[a].is_switch ? nodes[b].name : nodes[a].name);
	case -E2BIG:
		return fabric_refuse(r->e, r->line, at, "more than %u ports, or %u links",
				     FABRIC_PORTS_MAX, FABRIC_LINKS_MAX);
	}
	return status;
}

static int add_links(struct reader *r, const struct names *left, const struct names *right,
		     const struct fabric_link_settings *s)
{
	for (unsigned long i = 0; i < count_of(left); i++)
		for (unsigned long k = 0; k < count_of(right); k++) {
			uint32_t a, b;
			int status;

			if (find_node(r, left, i, &a) < 0 || find_node(r, right, k, &b) < 0)
				return -EINVAL;
			status = add_link(r, right->at, a, b, s);
			if (status < 0)
				return status;
		}
	return 0;
}

/* "link NAME NAME KEY=VALUE...". */
static int read_link(struct reader *r)
{
	struct fabric_link_settings settings = r->t->link;
	struct fabric_spec_key keys[FABRIC_KEYS_MAX];
	struct names end[2];
	const char *word;
	size_t length;

	for (unsigned i = 0; i < 2; i++) {
		word = next_word(r, &length);
		if (!length)
			return fabric_refuse(r->e, r->line, word, "a link has two ends");
		if (read_names(r, &end[i], word, length) < 0)
			return -EINVAL;
	}
	fabric_link_keys(&settings, keys);
	word = next_word(r, &length);
	if (read_settings(r, word, length, keys) < 0)
		return -EINVAL;
	return add_links(r, &end[0], &end[1], &settings);
}

static int check_class(struct reader *r, const struct fabric_class_settings *s)
{
	if (s->kmin > s->kmax)
		return fabric_refuse(r->e, r->line, r->line, "kmin is above kmax");
	return 0;
}

static int read_class(struct reader *r)
{
	struct fabric_spec_key keys[FABRIC_KEYS_MAX];
	size_t length;
	const char *word = next_word(r, &length);
	const char *at = word;

	if (length != 1 || *at < '0' || *at > '7')
		return refuse_at(r, at, "a class is 0 to 7, not", at, length);
	fabric_class_keys(&r->t->classes[*at - '0'], keys);
	word = next_word(r, &length);
	if (read_settings(r, word, length, keys) < 0)
		return -EINVAL;
	return check_class(r, &r->t->classes[*at - '0']);
}

static int read_pause(struct reader *r)
{
	const struct fabric_spec_key keys[] = {
		{"quanta", FABRIC_COUNT, 0, 65535, &r->t->pause_quanta}, {0}};
	size_t length;
	const char *word = next_word(r, &length);

	return read_settings(r, word, length, keys);
}

static int read_default(struct reader *r)
{
	struct fabric_spec_key keys[FABRIC_KEYS_MAX];
	size_t length;
	const char *word = next_word(r, &length);

	if (length == 4 && memcmp(word, "link", 4) == 0)
		fabric_link_keys(&r->t->link, keys);
	else if (length == 6 && memcmp(word, "switch", 6) == 0)
		fabric_switch_keys(&r->t->switch_each, keys);
	else
		return refuse_at(r, word, "expected link or switch, not", word, length);
	word = next_word(r, &length);
	return read_settings(r, word, length, keys);
}

static int read_line(struct reader *r)
{
	static const char *const words[] = {"class", "default", "host", "link",
					    "pause", "switch",  NULL};
	char word[32], said[300];
	size_t length;
	const char *at = next_word(r, &length);

	if (!length)
		return 0;
	snprintf(word, sizeof(word), "%.*s", (int)length, at);
	if (strcmp(word, "class") == 0)
		return read_class(r);
	if (strcmp(word, "default") == 0)
		return read_default(r);
	if (strcmp(word, "host") == 0)
		return read_nodes(r, false);
	if (strcmp(word, "link") == 0)
		return read_link(r);
	if (strcmp(word, "pause") == 0)
		return read_pause(r);
	if (strcmp(word, "switch") == 0)
		return read_nodes(r, true);
	return fabric_refuse(r->e, r->line, at, "%s",
			     words_refuse(said, sizeof(said), "statement", word, words_at, words));
}

int fabric_topology_parse(struct fabric_topology *t, const char *text, struct fabric_error *e)
{
	const int status = fabric_topology_set(t, text, e);

	return status == 0 ? fabric_topology_check(t, e) : status;
}

int fabric_topology_set(struct fabric_topology *t, const char *text, struct fabric_error *e)
{
	char *copy = malloc(strlen(text) + 1);
	struct reader r = {.t = t, .e = e};
	unsigned number = 0;
	int status = 0;

	if (!copy)
		return -ENOMEM;
	strcpy(copy, text);
	for (char *line = copy; line && status == 0;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		r.line = r.at = line;
		number++;
		status = read_line(&r);
		line = end ? end + 1 : NULL;
	}
	if (status == -EINVAL)
		e->line = number;
	free(copy);
	return status;
}
