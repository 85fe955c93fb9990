/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of actions on a port: its link, speed, MTU and P_Key, and the entries of its GID
 * table.
 */
#include "rule_names.h"
#include "rule_words.h"

#include <errno.h>

#define MOST_FLAPS 1000000
/* Ethernet's shortest and, of the interfaces that there are, longest payload. */
#define LEAST_MTU  68
#define MOST_MTU   65536
/* 0.1 Gb/s, the unit of ibv_query_port_speed(3), and what a port can name (1.6 Tb/s). */
#define LEAST_RATE UINT64_C(100000000)
#define MOST_RATE  UINT64_C(1600000000000)
#define MOST_INDEX 65535

enum { DOWN, UP, TIMES };

static int time_of(const struct fault_text *t, struct fault_piece p, uint64_t *out)
{
	if (!fault_value_time(p, out) || *out == 0)
		return fault_is(t, p, "not a time such as 10us, 5ms or 2s");
	return 0;
}

/* down:TIME, up:TIME or times:N */
static int part_of_flap(const struct fault_text *t, struct fault_piece part, struct fault_value *v)
{
	static const struct fault_constant names[] = {
		{"down", DOWN}, {"up", UP}, {"times", TIMES}, {NULL, 0}};
	static const struct fault_constants what = {"part of a flap", "", names};
	struct fault_piece value = part;
	const struct fault_piece name = fault_piece_cut(&value, ':');
	uint64_t kind;

	if (fault_constant_parse(t, &what, name, 0, &kind))
		return -EINVAL;
	if (name.length == part.length)
		return fault_fail(t, part.at, "'%.*s' needs a value", (int)name.length, name.at);
	if (kind == DOWN)
		return time_of(t, value, &v->number);
	if (kind == UP)
		return time_of(t, value, &v->number2);
	if (fault_parse_up_to(t, value, MOST_FLAPS, &v->times))
		return -EINVAL;
	return v->times ? 0 : fault_fail(t, value.at, "0 has no effect");
}

FAULT_ACTION_PARSE_(flap)
{
	struct fault_piece rest = value;

	while (rest.length)
		if (part_of_flap(t, fault_piece_cut(&rest, ','), &r->value))
			return -EINVAL;
	if (!r->value.number)
		return fault_fail(t, value.at, "down:TIME is missing");
	if (!r->value.number2)
		r->value.number2 = r->value.number;
	if (!r->value.times)
		r->value.times = 1;
	return 0;
}

FAULT_ACTION_PARSE_(speed)
{
	if (fault_parse_rate(t, value, r))
		return -EINVAL;
	if (r->value.number < LEAST_RATE || r->value.number > MOST_RATE)
		return fault_fail(t, value.at, "a port has from 100mbit to 1600gbit");
	return 0;
}

FAULT_ACTION_PARSE_(mtu)
{
	if (fault_parse_up_to(t, value, MOST_MTU, &r->value.number))
		return -EINVAL;
	if (r->value.number < LEAST_MTU)
		return fault_fail(t, value.at, "%.*s is below %d", (int)value.length, value.at,
				  LEAST_MTU);
	return 0;
}

/* Its low 15 bits name the partition, and zero names none (10.9.1.1). */
FAULT_ACTION_PARSE_(pkey)
{
	if (fault_parse_up_to(t, value, UINT16_MAX, &r->value.number))
		return -EINVAL;
	if ((r->value.number & 0x7fff) == 0)
		return fault_fail(t, value.at, "'%.*s' names no partition", (int)value.length,
				  value.at);
	return 0;
}

FAULT_ACTION_PARSE_(gid_index)
{
	r->value.number = FAULT_GID_ALL;
	return value.length ? fault_parse_up_to(t, value, MOST_INDEX, &r->value.number) : 0;
}

FAULT_ACTION_PARSE_(gid_address)
{
	r->value.number = value.length ? 0 : FAULT_GID_ALL;
	if (value.length && !fault_value_address(value, r->value.gid))
		return fault_is(t, value, "not an IP address");
	return 0;
}

FAULT_ACTION_PARSE_(gid_move)
{
	struct fault_piece to = value;
	const struct fault_piece from = fault_piece_cut(&to, ':');

	if (from.length == value.length)
		return fault_is(t, value, "not INDEX:INDEX");
	if (fault_parse_up_to(t, from, MOST_INDEX, &r->value.number) ||
	    fault_parse_up_to(t, to, MOST_INDEX, &r->value.number2))
		return -EINVAL;
	if (r->value.number == r->value.number2)
		return fault_fail(t, to.at, "the entry is there already");
	return 0;
}
