/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves device names of dev= and peer= selectors. */
#include "plan_devices.h"

#include "emu/fault/rule/rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct owner {
	const struct fault_plan_ops *ops;
	void *user;
};

/* For fault_nearest. */
static const char *name_at(const void *table, unsigned i)
{
	const struct owner *o = table;

	return o->ops->device ? o->ops->device(o->user, i) : NULL;
}

/* The value of a word that is there, under whichever of its names. */
static struct fault_piece value_of(const struct fault_text *t, const char *name)
{
	const int index = fault_word_index(name);
	const char *at = t->line;
	struct fault_token token;

	while (fault_token_next(t, &at, &token) > 0)
		if (fault_word_find(token.name) == index)
			return token.value;
	return (struct fault_piece){t->line, 0};
}

/* "uhca0 to uhca3"; names that are not all of one form are listed. */
static void list_names(struct owner *o, unsigned n, char *out, size_t cap)
{
	const char *last = name_at(o, n - 1);
	size_t at = 0;

	if (strncmp(last, "uhca", 4) == 0 && n > 1) {
		snprintf(out, cap, "known: %s to %s", name_at(o, 0), last);
		return;
	}
	for (unsigned i = 0; i < n && at < cap; i++)
		at += (size_t)snprintf(out + at, cap - at, "%s%s",
				       i ? ", " : "known: ", name_at(o, i));
}

/* "'uhca7' is not a device; known: uhca0 to uhca3: did you mean 'uhca3'?" */
static int refuse(const struct fault_text *t, struct owner *o, struct fault_piece name,
		  const char *what)
{
	char hint[FAULT_WORD_MAX + 24], all[512] = "no device is known";
	unsigned n = 0;

	while (name_at(o, n))
		n++;
	if (n > 0)
		list_names(o, n, all, sizeof(all));
	words_hint(fault_nearest(name, name_at, o), hint, sizeof(hint));
	return fault_fail(t, name.at, "'%.*s' is %s; %s%s", (int)name.length, name.at, what, all,
			  hint);
}

static int add_addresses(const struct fault_text *t, struct owner *o, unsigned device,
			 struct fault_piece name, struct fault_select *select)
{
	uint8_t address[16];

	for (unsigned i = 0; o->ops->address(o->user, device, i, address); i++) {
		if (select->n_peers == FAULT_PEERS_MAX)
			return fault_fail(t, name.at, "more than %d addresses", FAULT_PEERS_MAX);
		memcpy(select->peer[select->n_peers++], address, sizeof(address));
	}
	return 0;
}

static int find_peers(const struct fault_text *t, struct owner *o, struct fault_select *select)
{
	struct fault_piece rest = value_of(t, "peer");
	uint8_t ignored[16];

	while (rest.length) {
		const struct fault_piece name = fault_piece_cut(&rest, ',');
		const char *device;
		bool found = false;

		if (fault_value_address(name, ignored))
			continue;
		for (unsigned i = 0; (device = name_at(o, i)) != NULL; i++) {
			if (!fault_glob(name, device))
				continue;
			found = true;
			if (add_addresses(t, o, i, name, select))
				return -EINVAL;
		}
		if (!found)
			return refuse(t, o, name, "neither an IP address nor a device");
	}
	return 0;
}

static int check_devices(const struct fault_text *t, struct owner *o)
{
	struct fault_piece rest = value_of(t, "dev");

	while (rest.length && name_at(o, 0)) {
		const struct fault_piece name = fault_piece_cut(&rest, ',');
		const char *device;
		unsigned i = 0;

		while ((device = name_at(o, i)) != NULL && !fault_glob(name, device))
			i++;
		if (!device)
			return refuse(t, o, name, "not a device");
	}
	return 0;
}

int fault_plan_find_devices(const struct fault_text *t, const struct fault_plan_ops *ops,
			    void *user, struct fault_select *select)
{
	struct owner o = {ops, user};

	if (select->device[0] && check_devices(t, &o))
		return -EINVAL;
	return select->names_peers ? find_peers(t, &o, select) : 0;
}
