/* SPDX-License-Identifier: BSD-2-Clause */
/* Failures as texts, and what they do to a network. See failure.h. */
#include "failure.h"

#include "emu/words/words.h"

#include <errno.h>
#include <string.h>

struct word {
	const char *at;
	size_t length;
};

static const char *const names[] = {"down", "up", "loss", "rate", "delay", "pause", "resume", NULL};

static struct word next_word(const char **at)
{
	struct word w;

	*at += strspn(*at, " \t");
	w.at = *at;
	w.length = strcspn(*at, " \t");
	*at += w.length;
	return w;
}

static const char *node_at(const void *table, unsigned i)
{
	const struct fabric_topology *t = table;

	return i < t->n_nodes && i < 64 ? t->nodes[i].name : NULL;
}

static int refuse_word(const char *text, struct word w, const char *what, words_names table,
		       const void *of, struct fabric_error *e)
{
	char word[64], said[300];

	snprintf(word, sizeof(word), "%.*s", w.length < 63 ? (int)w.length : 63, w.at);
	return fabric_refuse(e, text, w.at, "%s",
			     words_refuse(said, sizeof(said), what, word, table, of));
}

static int read_node(uint32_t *node, const char *text, struct word w,
		     const struct fabric_topology *t, struct fabric_error *e)
{
	*node = fabric_topology_find(t, w.at, w.length);
	if (*node != UINT32_MAX)
		return 0;
	if (memchr(w.at, '/', w.length))
		return fabric_refuse(e, text, w.at,
				     "'%.*s' is no node: name a link by the nodes at both ends",
				     w.length < 40 ? (int)w.length : 40, w.at);
	return refuse_word(text, w, "node", node_at, t, e);
}

static uint32_t find_link(const struct fabric_topology *t, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < t->n_links; i++)
		if ((t->links[i].end[0] == a && t->links[i].end[1] == b) ||
		    (t->links[i].end[0] == b && t->links[i].end[1] == a))
			return i;
	return UINT32_MAX;
}

static int read_what(struct fabric_failure *c, const char *text, struct word w,
		     struct fabric_error *e)
{
	for (unsigned i = 0; names[i]; i++)
		if (strlen(names[i]) == w.length && memcmp(names[i], w.at, w.length) == 0) {
			c->what = (enum fabric_failure_what)i;
			return 0;
		}
	return refuse_word(text, w, "change", words_at, names, e);
}

static bool has_value(const struct fabric_failure *c)
{
	return c->what == FABRIC_LOSES || c->what == FABRIC_SLOWS || c->what == FABRIC_DELAYS;
}

/* The second node, if there is one, makes it a link. */
static int read_link(struct fabric_failure *c, const char *text, const char **at,
		     const struct fabric_topology *t, struct fabric_error *e)
{
	const struct word w = next_word(at);
	uint32_t other;

	c->link = UINT32_MAX;
	if (!w.length && !has_value(c))
		return t->nodes[c->node].is_switch
			       ? 0
			       : fabric_refuse(e, text, w.at,
					       "%s is a host: name its link by both "
					       "ends",
					       t->nodes[c->node].name);
	if (read_node(&other, text, w, t, e) < 0)
		return -EINVAL;
	c->link = find_link(t, c->node, other);
	if (c->link == UINT32_MAX)
		return fabric_refuse(e, text, w.at, "no link joins %s and %s",
				     t->nodes[c->node].name, t->nodes[other].name);
	return 0;
}

/* As in a topology, with its limits. */
static int read_value(struct fabric_failure *c, const char *text, const char **at,
		      struct fabric_error *e)
{
	struct fabric_link_settings s = {0};
	struct fabric_spec_key keys[FABRIC_KEYS_MAX];
	const struct fabric_spec_key *key = keys;
	const struct word w = next_word(at);
	int status;

	fabric_link_keys(&s, keys);
	while (strcmp(key->name, names[c->what]) != 0)
		key++;
	status = fabric_spec_value(text, w.at, w.length, key, e);
	c->value = *key->value;
	return status;
}

int fabric_failure_read(struct fabric_failure *c, const char *text, const char *at,
			const struct fabric_topology *t, struct fabric_error *e)
{
	struct word w;

	*c = (struct fabric_failure){.link = UINT32_MAX};
	if (read_what(c, text, next_word(&at), e) < 0)
		return -EINVAL;
	w = next_word(&at);
	if (read_node(&c->node, text, w, t, e) < 0)
		return -EINVAL;
	if (c->what == FABRIC_PAUSES || c->what == FABRIC_RESUMES) {
		if (t->nodes[c->node].is_switch)
			return fabric_refuse(e, text, w.at, "%s is a switch: hosts pause",
					     t->nodes[c->node].name);
	} else if (read_link(c, text, &at, t, e) < 0) {
		return -EINVAL;
	}
	if (has_value(c) && read_value(c, text, &at, e) < 0)
		return -EINVAL;
	w = next_word(&at);
	return w.length ? fabric_refuse(e, text, w.at, "a word too many: '%.*s'",
					w.length < 40 ? (int)w.length : 40, w.at)
			: 0;
}

bool fabric_failure_apply(const struct fabric_failure *c, struct fabric *f,
			  const struct fabric_topology *t, uint8_t classes, uint64_t now)
{
	const bool up = c->what == FABRIC_COMES_UP;

	switch (c->what) {
	case FABRIC_GOES_DOWN:
	case FABRIC_COMES_UP:
		if (c->link != UINT32_MAX)
			fabric_link_up(f, c->link, up, now);
		else
			fabric_node_up(f, c->node, up, now);
		return true;
	case FABRIC_LOSES:
		fabric_link_loss(f, c->link, c->value);
		return false;
	case FABRIC_SLOWS:
		fabric_link_rate(f, c->link, c->value);
		return false;
	case FABRIC_DELAYS:
		fabric_link_delay(f, c->link, c->value);
		return false;
	case FABRIC_PAUSES:
	case FABRIC_RESUMES:
		fabric_host_pause(f, t->nodes[c->node].index,
				  c->what == FABRIC_PAUSES ? classes : 0, now);
		return false;
	}
	return false;
}
