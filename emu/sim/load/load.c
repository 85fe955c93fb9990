/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of workloads, and what they share. See load.h. */
#include "loads.h"

#include "emu/words/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct load_kind *const kinds[] = {
	&load_incast, &load_pair,      &load_permutation, &load_all_to_all, &load_ring,
	&load_tree,   &load_websearch, &load_hadoop,      &load_storage,
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *kind_at(const void *table, unsigned i)
{
	(void)table;
	return i < KINDS ? kinds[i]->name : NULL;
}

static const struct load_kind *find_load(const char *text, struct fabric_error *e)
{
	const size_t length = fabric_spec_name(text);
	char word[64], said[300];

	for (size_t i = 0; i < KINDS; i++)
		if (strlen(kinds[i]->name) == length && memcmp(kinds[i]->name, text, length) == 0)
			return kinds[i];
	snprintf(word, sizeof(word), "%.*s", (int)length, text);
	fabric_refuse(e, text, text, "%s",
		      words_refuse(said, sizeof(said), "workload", word, kind_at, NULL));
	return NULL;
}

int load_add(struct load_set *set, const char *text, struct fabric_error *e)
{
	const struct load_kind *kind = find_load(text, e);
	struct fabric_spec_key keys[7] = {0};
	struct load *l;

	if (!kind)
		return -EINVAL;
	if (set->n == SIM_LOADS_MAX)
		return fabric_refuse(e, text, text, "more than %u workloads", SIM_LOADS_MAX);
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->kind = kind;
	l->number = (uint8_t)set->n;
	set->loads[set->n++] = l;
	for (unsigned i = 0; i < 6 && kind->key[i].name; i++) {
		l->value[i] = kind->key[i].usual;
		keys[i] =
			(struct fabric_spec_key){kind->key[i].name, kind->key[i].unit,
						 kind->key[i].min, kind->key[i].max, &l->value[i]};
	}
	return fabric_spec_read(text, keys, e);
}

static int check_size(const struct load_set *set, const struct load *l, struct fabric_error *e)
{
	char text[32];

	for (unsigned i = 0; i < 6 && l->kind->key[i].name; i++)
		if (l->kind->key[i].unit == FABRIC_BYTES && l->value[i] > load_largest(set))
			return fabric_refuse(e, "", "", "%s: a %s of %s is more than 2^30 packets",
					     l->kind->name, l->kind->key[i].name,
					     fabric_quantity_text(l->value[i], FABRIC_BYTES, text,
								  sizeof(text)));
	return 0;
}

int load_start(struct load_set *set, struct fabric_error *e)
{
	for (unsigned i = 0; i < set->n; i++) {
		struct load *l = set->loads[i];
		const int status = check_size(set, l, e) < 0 ? -EINVAL : l->kind->start(set, l, e);

		if (status < 0)
			return status;
	}
	return 0;
}

void load_free(struct load_set *set)
{
	for (unsigned i = 0; i < set->n; i++) {
		struct load *l = set->loads[i];

		fabric_events_fini(&l->arrivals);
		free(l->positions);
		free(l->mean_gap);
		free(l->left);
		free(l->edges);
		free(l->sent);
		free(l->got);
		free(l);
	}
	set->n = 0;
}

void load_received(struct load_set *set, struct sim_connection *c, uint64_t now)
{
	struct load *l = set->loads[c->load];

	if (l->kind->received)
		l->kind->received(set, l, c, now);
}

void load_done(struct load_set *set, struct sim_connection *c, uint64_t now)
{
	struct load *l = set->loads[c->load];

	set->finished(set->user, c, c->began, now);
	l->kind->done(set, l, c, now);
}

void load_timer(struct load_set *set, uint32_t number, uint64_t now)
{
	struct load *l = set->loads[number];

	l->kind->timer(set, l, now);
}

struct sim_connection *load_open(struct load_set *set, struct load *l, uint32_t src, uint32_t dst,
				 uint32_t tag)
{
	/* 14 bits, as drivers make of a flow label. */
	const uint16_t sport = (uint16_t)(0xc000u | fabric_random_below(&set->random, 1u << 14));
	struct sim_connection *c = sim_open(set->sim, src, dst, sport, 0);

	if (c) {
		c->load = l->number;
		c->tag = tag;
	}
	return c;
}

bool load_stays(const struct load_set *set, const struct sim_connection *c)
{
	return !set->loads[c->load]->kind->passing;
}

void load_help(FILE *out)
{
	char text[64];

	for (size_t i = 0; i < KINDS; i++) {
		fprintf(out, "  %-14s %s", kinds[i]->name, kinds[i]->help);
		for (unsigned k = 0; k < 6 && kinds[i]->key[k].name; k++)
			fprintf(out, "%s%s=%s", k ? "," : "\n                 ",
				kinds[i]->key[k].name,
				fabric_quantity_text(kinds[i]->key[k].usual, kinds[i]->key[k].unit,
						     text, sizeof(text)));
		fputc('\n', out);
	}
}
