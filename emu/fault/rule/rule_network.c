/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of actions on a modelled network. What its links, switches and hosts are called, the
 * plan knows.
 */
#include "rule_words.h"

#include <errno.h>

/* What a link of a topology can have. */
#define LEAST_RATE UINT64_C(1000000)
#define MOST_RATE  UINT64_C(100000000000000)
#define MOST_DELAY UINT64_C(1000000000) /* ns */
#define ALWAYS     (UINT64_C(1) << 32)

FAULT_ACTION_PARSE_(link_rate)
{
	if (fault_parse_rate(t, value, r))
		return -EINVAL;
	if (r->value.number < LEAST_RATE || r->value.number > MOST_RATE)
		return fault_fail(t, value.at, "a link has from 1mbit to 100000gbit");
	return 0;
}

FAULT_ACTION_PARSE_(link_delay)
{
	if (!fault_value_time(value, &r->value.number))
		return fault_is(t, value, "not a time such as 500ns or 5us");
	if (r->value.number > MOST_DELAY)
		return fault_fail(t, value.at, "longer than 1s");
	return 0;
}

/* 0: the link loses nothing from now on. */
FAULT_ACTION_PARSE_(link_loss)
{
	uint32_t probability;

	if (!fault_value_probability(value, &probability))
		return fault_is(t, value, "not a probability such as 0.01 or 1%");
	r->value.number = probability == UINT32_MAX ? ALWAYS : probability;
	return 0;
}

FAULT_WORD_PARSE_(parts)
{
	if (!fault_piece_copy(token->value, r->value.parts, sizeof(r->value.parts)))
		return fault_fail(t, token->value.at, "longer than %d characters",
				  FAULT_PARTS_MAX - 1);
	return 0;
}

enum fault_part fault_action_part(enum fault_action a)
{
	const uint32_t flags = fault_action_words[a].flags;

	if (flags & FAULT_OF_LINK)
		return FAULT_PART_LINK;
	if (flags & FAULT_OF_SWITCH)
		return FAULT_PART_SWITCH;
	return flags & FAULT_OF_HOST ? FAULT_PART_HOST : FAULT_PARTS;
}

const char *fault_part_name(enum fault_part p)
{
	static const char *const names[] = {
		[FAULT_PART_LINK] = "link",
		[FAULT_PART_SWITCH] = "switch",
		[FAULT_PART_HOST] = "host",
		[FAULT_PART_PORT] = "port",
	};

	return names[p];
}
