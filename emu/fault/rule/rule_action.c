/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of actions.
 */
#include "rule_names.h"
#include "rule_words.h"

#include <errno.h>
#include <string.h>

/* What "rnr" says when nothing else is said: 0.64 ms (table 45). */
#define RNR_CODE      12
/* What "cm.mra" asks for. */
#define MRA_NS        UINT64_C(1000000000)
#define NS_MAX_FREEZE UINT64_C(3600000000000)

int fault_parse_up_to(const struct fault_text *t, struct fault_piece p, uint64_t most,
		      uint64_t *out)
{
	if (!fault_value_number(p, out))
		return fault_is(t, p, "not a number");
	if (*out > most)
		return fault_fail(t, p.at, "%.*s exceeds %llu", (int)p.length, p.at,
				  (unsigned long long)most);
	return 0;
}

static int remember(const struct fault_text *t, struct fault_piece p, struct fault_rule *r)
{
	if (!fault_piece_copy(p, r->value.word, sizeof(r->value.word)))
		return fault_fail(t, p.at, "the word is too long");
	return 0;
}

FAULT_ACTION_PARSE_(count)
{
	r->value.number = 1;
	if (value.length == 0)
		return 0;
	if (fault_parse_up_to(t, value, 1024, &r->value.number))
		return -EINVAL;
	if (r->value.number == 0)
		return fault_fail(t, value.at, "0 has no effect");
	return 0;
}

FAULT_ACTION_PARSE_(duration)
{
	if (value.length == 0) {
		r->value.number = r->action == FAULT_CM_MRA ? MRA_NS : 0;
		return 0;
	}
	if (!fault_value_time(value, &r->value.number))
		return fault_is(t, value, "not a time such as 10us, 5ms or 2s");
	if (r->value.number == 0)
		return fault_fail(t, value.at, "0 has no effect");
	if ((r->action == FAULT_DEV_FREEZE || r->action == FAULT_DEV_HANG) &&
	    r->value.number > NS_MAX_FREEZE)
		return fault_fail(t, value.at, "longer than one hour");
	return 0;
}

FAULT_ACTION_PARSE_(rate)
{
	uint64_t bare;

	if (fault_value_number(value, &bare))
		return fault_fail(t, value.at,
				  "the unit is missing: %.*sbit, %.*skbit, %.*smbit or %.*sgbit",
				  (int)value.length, value.at, (int)value.length, value.at,
				  (int)value.length, value.at, (int)value.length, value.at);
	if (!fault_value_rate(value, &r->value.number))
		return fault_is(t, value, "not a rate such as 10mbit");
	return 0;
}

FAULT_ACTION_PARSE_(burst)
{
	struct fault_piece q = value;
	const struct fault_piece p = fault_piece_cut(&q, '/');
	uint32_t to_bad, to_good;

	if (!fault_value_probability(p, &to_bad) || !fault_value_probability(q, &to_good))
		return fault_is(t, value, "not P/Q, two probabilities");
	if (to_bad == 0)
		return fault_fail(t, value.at, "P = 0 loses no packet");
	r->value.number = to_bad;
	r->value.number2 = to_good;
	return 0;
}

FAULT_ACTION_PARSE_(corrupt)
{
	static const struct fault_constant parts[] = {
		{"icrc", 0}, {"bit", 0}, {"payload", 0}, {"silent", 0}, {NULL, 0}};
	static const struct fault_constants what = {"part to corrupt", "", parts};
	struct fault_piece index = value;
	const struct fault_piece part = fault_piece_cut(&index, ':');
	uint64_t ignored;

	if (fault_constant_parse(t, &what, part, 0, &ignored))
		return -EINVAL;
	r->value.number2 = FAULT_BY_CHANCE;
	if (part.length < value.length) {
		if (fault_piece_is(part, "icrc"))
			return fault_fail(t, index.at, "icrc takes no number");
		if (fault_parse_up_to(t, index,
				      fault_piece_is(part, "silent") ? UINT32_MAX : 8 * 65536,
				      &r->value.number2))
			return -EINVAL;
	}
	r->select.by_byte = fault_piece_is(part, "silent") && part.length < value.length;
	r->select.byte = r->value.number2;
	return remember(
		t, (struct fault_piece){fault_constant_find(&what, part)->name, part.length}, r);
}

/* VALUE, +N or -N of a field. */
static int field_value(const struct fault_text *t, struct fault_piece p, uint64_t most,
		       struct fault_rule *r)
{
	const char sign = p.length ? p.at[0] : '\0';

	r->value.relative = sign == '+' || sign == '-';
	if (r->value.relative) {
		p.at++;
		p.length--;
	}
	if (fault_parse_up_to(t, p, most, &r->value.number2))
		return -EINVAL;
	if (r->value.relative && r->value.number2 == 0)
		return fault_fail(t, p.at, "%c0 changes nothing", sign);
	if (sign == '-')
		r->value.number2 = 0 - r->value.number2;
	return 0;
}

FAULT_ACTION_PARSE_(set)
{
	struct fault_piece rest = value;
	const struct fault_piece name = fault_piece_cut(&rest, ':');
	const struct fault_field_word *field;
	char word[FAULT_WORD_MAX], hint[FAULT_WORD_MAX] = "";

	if (fault_piece_copy(name, word, sizeof(word)))
		r->value.field = fault_field_find(word);
	else
		r->value.field = FAULT_FIELDS;
	if (r->value.field == FAULT_FIELDS) {
		words_hint(fault_nearest(name, fault_field_at, NULL), hint, sizeof(hint));
		return fault_fail(t, value.at, "unknown field '%.*s'%s", (int)name.length, name.at,
				  hint);
	}
	field = &fault_field_words[r->value.field];
	if (field->indexed) {
		const struct fault_piece index = fault_piece_cut(&rest, ':');

		if (fault_parse_up_to(t, index, 65535, &r->value.number))
			return -EINVAL;
	}
	if (rest.length == 0)
		return fault_fail(t, rest.at, "a value is missing: %s%s:VALUE", field->name,
				  field->indexed ? ":N" : "");
	memcpy(r->value.word, field->name, strlen(field->name) + 1);
	return field_value(t, rest, field->most, r);
}

FAULT_ACTION_PARSE_(truncate)
{
	if (!fault_value_size(value, &r->value.number) || r->value.number > ROCE_MAX_MTU)
		return fault_is(t, value, "not a payload length in bytes");
	return 0;
}

FAULT_ACTION_PARSE_(rnr)
{
	r->value.number = RNR_CODE;
	return value.length ? fault_parse_up_to(t, value, 31, &r->value.number) : 0;
}

FAULT_ACTION_PARSE_(nak)
{
	return fault_constant_parse(t, &fault_naks, value, 31, &r->value.number);
}

FAULT_ACTION_PARSE_(forge)
{
	struct fault_piece code = value;
	const struct fault_piece kind = fault_piece_cut(&code, ':');
	const bool has_code = kind.length < value.length;
	int status = 0;

	if (fault_piece_is(kind, "ack")) {
		if (has_code)
			return fault_fail(t, code.at, "ack takes no code");
	} else if (fault_piece_is(kind, "nak")) {
		if (!has_code)
			return fault_fail(t, value.at, "nak needs a code, such as nak:access");
		status = fault_constant_parse(t, &fault_naks, code, 31, &r->value.number2);
	} else if (fault_piece_is(kind, "rnr")) {
		r->value.number2 = RNR_CODE;
		if (has_code)
			status = fault_parse_up_to(t, code, 31, &r->value.number2);
	} else {
		return fault_is(t, value, "not ack, nak:CODE or rnr[:CODE]");
	}
	if (status)
		return status;
	if (remember(t, kind, r))
		return -EINVAL;
	for (char *c = r->value.word; *c; c++)
		*c |= 0x20;
	return 0;
}

FAULT_ACTION_PARSE_(reason)
{
	return fault_constant_parse(t, &fault_cm_reasons, value, 0xffff, &r->value.number);
}

FAULT_ACTION_PARSE_(errno)
{
	if (fault_constant_parse(t, &fault_errnos, value, 4095, &r->value.number))
		return -EINVAL;
	return r->value.number ? 0 : fault_fail(t, value.at, "0 is not an errno value");
}

FAULT_ACTION_PARSE_(cqe)
{
	struct fault_piece rest = value;
	const struct fault_piece name = fault_piece_cut(&rest, ':');
	static const char *const fields[] = {"vendor", "length", "imm"};

	if (rest.length == 0)
		return fault_is(t, value, "not FIELD:VALUE");
	if (fault_piece_is(name, "status")) {
		memcpy(r->value.word, "status", sizeof("status"));
		return fault_constant_parse(t, &fault_wc_statuses, rest, 255, &r->value.number2);
	}
	for (unsigned i = 0; i < 3; i++) {
		if (!fault_piece_is(name, fields[i]))
			continue;
		memcpy(r->value.word, fields[i], strlen(fields[i]) + 1);
		return fault_parse_up_to(t, rest, UINT32_MAX, &r->value.number2);
	}
	return fault_is(t, name, "not status, vendor, length or imm");
}

FAULT_ACTION_PARSE_(event)
{
	const char *name;

	if (fault_constant_parse(t, &fault_events, value, 0, &r->value.number))
		return -EINVAL;
	name = fault_constant_name(&fault_events, r->value.number);
	memcpy(r->value.word, name, strlen(name) + 1);
	return 0;
}

FAULT_ACTION_PARSE_(key)
{
	return value.length ? fault_parse_up_to(t, value, UINT32_MAX, &r->value.number) : 0;
}
