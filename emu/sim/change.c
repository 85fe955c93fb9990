/* SPDX-License-Identifier: BSD-2-Clause */
/* Failures as texts, and what they do to a network. */
#include "change.h"

#include "emu/words/words.h"

#include <errno.h>
#include <string.h>

struct word {
	const char *at;
	size_t length;
};

static const char *const names[] = {"down", "up", "loss", "pause", "resume", NULL};

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
	return *node != UINT32_MAX ? 0 : refuse_word(text, w, "node", node_at, t, e);
}

static uint32_t find_link(const struct fabric_topology *t, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < t->n_links; i++)
		if ((t->links[i].end[0] == a && t->links[i].end[1] == b) ||
		    (t->links[i].end[0] == b && t->links[i].end[1] == a))
			return i;
	return UINT32_MAX;
}

static int read_what(struct change *c, const char *text, struct word w, struct fabric_error *e)
{
	for (unsigned i = 0; names[i]; i++)
		if (strlen(names[i]) == w.length && memcmp(names[i], w.at, w.length) == 0) {
			c->what = (enum change_what)i;
			return 0;
		}
	return refuse_word(text, w, "change", words_at, names, e);
}

/* The second node, if there is one, makes it a link. */
static int read_link(struct change *c, const char *text, const char **at,
		     const struct fabric_topology *t, struct fabric_error *e)
{
	const struct word w = next_word(at);
	uint32_t other;

	c->link = UINT32_MAX;
	if (!w.length && c->what != CHANGE_LOSS)
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

static int read_loss(struct change *c, const char *text, const char **at, struct fabric_error *e)
{
	const struct fabric_spec_key key = {"loss", FABRIC_RATIO, 0, FABRIC_RATIO_ONE, &c->loss};
	const struct word w = next_word(at);

	return fabric_spec_value(text, w.at, w.length, &key, e);
}

int change_read(struct change *c, const char *text, const struct fabric_topology *t,
		struct fabric_error *e)
{
	const struct fabric_spec_key time = {"time", FABRIC_TIME, 0, UINT64_C(1000000000000000),
					     &c->time};
	const char *at = text;
	struct word w = next_word(&at);

	*c = (struct change){.link = UINT32_MAX};
	if (fabric_spec_value(text, w.at, w.length, &time, e) < 0 ||
	    read_what(c, text, next_word(&at), e) < 0 ||
	    read_node(&c->node, text, next_word(&at), t, e) < 0)
		return -EINVAL;
	if (c->what == CHANGE_PAUSE || c->what == CHANGE_RESUME) {
		if (t->nodes[c->node].is_switch)
			return fabric_refuse(e, text, text, "%s is a switch: hosts pause",
					     t->nodes[c->node].name);
	} else if (read_link(c, text, &at, t, e) < 0) {
		return -EINVAL;
	}
	if (c->what == CHANGE_LOSS && read_loss(c, text, &at, e) < 0)
		return -EINVAL;
	w = next_word(&at);
	return w.length ? fabric_refuse(e, text, w.at, "a word too many: '%.*s'",
					w.length < 40 ? (int)w.length : 40, w.at)
			: 0;
}

/* Few, and those of one time stay in their order. */
void change_sort(struct change *c, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		const struct change moved = c[i];
		unsigned k = i;

		for (; k > 0 && c[k - 1].time > moved.time; k--)
			c[k] = c[k - 1];
		c[k] = moved;
	}
}

bool change_apply(const struct change *c, struct sim *s, uint64_t now)
{
	const uint8_t classes = (uint8_t)(1u << s->settings.data_class);
	const bool up = c->what == CHANGE_UP;

	switch (c->what) {
	case CHANGE_DOWN:
	case CHANGE_UP:
		if (c->link != UINT32_MAX)
			fabric_link_up(s->fabric, c->link, up, now);
		else
			fabric_node_up(s->fabric, c->node, up, now);
		return true;
	case CHANGE_LOSS:
		fabric_link_loss(s->fabric, c->link, c->loss);
		return false;
	case CHANGE_PAUSE:
	case CHANGE_RESUME:
		fabric_host_pause(s->fabric, s->topology->nodes[c->node].index,
				  c->what == CHANGE_PAUSE ? classes : 0, now);
		return false;
	}
	return false;
}
