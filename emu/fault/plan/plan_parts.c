/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks for the parts of a modelled network that a rule names. */
#include "plan_parts.h"

#include "emu/fault/rule/rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct owner {
	const struct fault_plan_ops *ops;
	void *user;
	enum fault_part kind;
};

/* For fault_nearest. */
static const char *name_at(const void *table, unsigned i)
{
	const struct owner *o = table;

	return o->ops->part(o->user, o->kind, i);
}

/* The word of the rule that is its action, or has the value. */
static struct fault_token token_of(const struct fault_text *t, bool action, const char *name)
{
	const char *at = t->line;
	struct fault_token token = {.whole = {at, 0}};

	while (fault_token_next(t, &at, &token) > 0)
		if (action ? fault_action_find(token.name) != FAULT_ACTIONS
			   : fault_piece_is(token.name, name))
			break;
	return token;
}

static bool is_there(struct fault_piece glob, const struct owner *o)
{
	const char *name;

	for (unsigned i = 0; (name = name_at(o, i)) != NULL; i++)
		if (fault_glob(glob, name))
			return true;
	return false;
}

/* A link has a name for each port at its ends, and for both nodes: the first of one is shown. */
static int refuse(const struct fault_text *t, const struct owner *o, struct fault_piece name)
{
	const char *kind = fault_part_name(o->kind), *example = NULL;
	char hint[WORDS_HINT_MAX];

	for (unsigned i = 0; !example && name_at(o, i); i++)
		if (o->kind != FAULT_PART_LINK || strstr(name_at(o, i), "/port"))
			example = name_at(o, i);
	words_hint(fault_nearest(name, name_at, o), hint, sizeof(hint));
	return fault_fail(t, name.at, "'%.*s' is no %s of the network, as '%s' is%s",
			  name.length < 40 ? (int)name.length : 40, name.at, kind,
			  example ? example : name_at(o, 0), hint);
}

/* Every glob names a part. */
static int check(const struct fault_text *t, const struct owner *o, struct fault_piece rest)
{
	for (bool more = true; more;) {
		more = rest.length && memchr(rest.at, ',', rest.length);
		const struct fault_piece one = fault_piece_cut(&rest, ',');

		if (!is_there(one, o))
			return refuse(t, o, one);
	}
	return 0;
}

static int no_network(const struct fault_text *t, struct fault_piece at, struct fault_piece what)
{
	return fault_fail(t, at.at, "'%.*s' needs a modelled network: uhca-run --fabric",
			  (int)what.length, what.at);
}

/* at=leaf0/port3 */
static int check_port(const struct fault_text *t, const struct fault_plan_ops *ops, void *user,
		      const struct fault_rule *r)
{
	const struct owner o = {ops, user, FAULT_PART_PORT};
	const struct fault_token at = token_of(t, false, "at");

	if (r->layer != FAULT_LAYER_HOP)
		return 0;
	if (!name_at(&o, 0))
		return no_network(t, at.whole, at.whole);
	return r->select.port[0] ? check(t, &o, at.value) : 0;
}

int fault_plan_check_parts(const struct fault_text *t, const struct fault_plan_ops *ops, void *user,
			   const struct fault_rule *r)
{
	const struct owner o = {ops, user, fault_action_part(r->action)};
	const struct fault_token action = token_of(t, true, NULL);

	if (!ops->part)
		return 0;
	if (check_port(t, ops, user, r))
		return -EINVAL;
	if (o.kind == FAULT_PARTS)
		return 0;
	if (!name_at(&o, 0))
		return no_network(t, action.whole, action.name);
	return check(t, &o, token_of(t, false, fault_part_name(o.kind)).value);
}
