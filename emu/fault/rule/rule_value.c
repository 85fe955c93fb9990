/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses numbers, times, rates, probabilities, addresses and lists. */
#include "rule_value.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define NS_MAX UINT64_C(1000000000000000000)

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

static bool digits(struct fault_piece p, unsigned base, uint64_t *out)
{
	uint64_t v = 0;

	if (p.length == 0)
		return false;
	for (size_t i = 0; i < p.length; i++) {
		const unsigned d = (unsigned)digit(p.at[i]);

		if (d >= base || v > (UINT64_MAX - d) / base)
			return false;
		v = v * base + d;
	}
	*out = v;
	return true;
}

bool fault_value_number(struct fault_piece p, uint64_t *out)
{
	if (fault_piece_begins(p, "0x"))
		return digits((struct fault_piece){p.at + 2, p.length - 2}, 16, out);
	return digits(p, 10, out);
}

bool fault_value_size(struct fault_piece p, uint64_t *out)
{
	static const char units[] = "kmg";
	uint64_t v;

	for (unsigned i = 0; p.length && i < 3; i++) {
		const unsigned shift = 10 * (i + 1);

		if ((p.at[p.length - 1] | 0x20) != units[i])
			continue;
		p.length--;
		if (!fault_value_number(p, &v) || v > UINT64_MAX >> shift)
			return false;
		*out = v << shift;
		return true;
	}
	return fault_value_number(p, out);
}

struct unit {
	const char *name;
	uint64_t factor;
};

/*
 * "1.5ms": digits, up to nine behind a point, then one of the units, whose name is taken off the
 * piece beforehand. Gives number * factor, rounded down.
 */
static bool scaled(struct fault_piece p, uint64_t factor, uint64_t most, uint64_t *out)
{
	const struct fault_piece whole = fault_piece_cut(&p, '.');
	uint64_t v = 0, part = 0, power = 1;

	if (whole.length == 0 && p.length == 0)
		return false;
	if (whole.length && !digits(whole, 10, &v))
		return false;
	if (p.length > 9 || (p.length && !digits(p, 10, &part)))
		return false;
	for (size_t i = 0; i < p.length; i++)
		power *= 10;
	if (v > most / factor)
		return false;
	v *= factor;
	/* factor may be 10^9 and more: one digit after the other, so that nothing overflows */
	part = factor >= power ? factor / power * part : factor * part / power;
	*out = v + part;
	return *out <= most;
}

static bool with_unit(struct fault_piece p, const struct unit *units, uint64_t most, uint64_t *out)
{
	size_t n = p.length;

	while (n && digit(p.at[n - 1]) > 9 && p.at[n - 1] != '.')
		n--;
	const struct fault_piece unit = {p.at + n, p.length - n};

	p.length = n;
	for (; units->name; units++)
		if (fault_piece_is(unit, units->name))
			return scaled(p, units->factor, most, out);
	return false;
}

bool fault_value_time(struct fault_piece p, uint64_t *out)
{
	static const struct unit units[] = {
		{"ns", 1},
		{"us", 1000},
		{"ms", 1000000},
		{"s", UINT64_C(1000000000)},
		{"min", UINT64_C(60000000000)},
		{NULL, 0},
	};

	if (fault_piece_is(p, "0")) {
		*out = 0;
		return true;
	}
	return with_unit(p, units, NS_MAX, out);
}

bool fault_value_rate(struct fault_piece p, uint64_t *out)
{
	static const struct unit units[] = {
		{"bit", 1}, {"kbit", 1000}, {"mbit", 1000000}, {"gbit", UINT64_C(1000000000)},
		{NULL, 0},
	};

	return with_unit(p, units, NS_MAX, out) && *out;
}

bool fault_value_probability(struct fault_piece p, uint32_t *out)
{
	const uint64_t one = UINT64_C(1000000000);
	uint64_t v;
	uint64_t factor = one;

	if (p.length && p.at[p.length - 1] == '%') {
		p.length--;
		factor /= 100;
	}
	if (!scaled(p, factor, one, &v))
		return false;
	*out = (uint32_t)(v * UINT32_MAX / one);
	if (v && *out == 0)
		*out = 1;
	return true;
}

static bool address_v4(struct fault_piece p, uint8_t out[4])
{
	for (unsigned i = 0; i < 4; i++) {
		const bool more = p.length && memchr(p.at, '.', p.length);
		const struct fault_piece part = fault_piece_cut(&p, '.');
		uint64_t v;

		if (part.length > 3 || !digits(part, 10, &v) || v > 255 || more != (i < 3))
			return false;
		out[i] = (uint8_t)v;
	}
	return true;
}

/* Groups of a half of an IPv6 address: their number, or -1. */
static int groups(struct fault_piece p, uint8_t *out)
{
	int n = 0;

	while (p.length) {
		const bool more = memchr(p.at, ':', p.length) != NULL;
		const struct fault_piece part = fault_piece_cut(&p, ':');
		uint64_t v;

		if (!more && n <= 6 && memchr(part.at, '.', part.length))
			return address_v4(part, out + 2 * n) ? n + 2 : -1;
		if (n == 8 || part.length > 4 || !digits(part, 16, &v) || (more && !p.length))
			return -1;
		out[2 * n] = (uint8_t)(v >> 8);
		out[2 * n + 1] = (uint8_t)v;
		n++;
	}
	return n;
}

static bool address_v6(struct fault_piece p, uint8_t out[16])
{
	uint8_t tail[16];
	struct fault_piece head = p;
	int n, m;

	for (size_t i = 0; i + 1 < p.length; i++) {
		if (p.at[i] != ':' || p.at[i + 1] != ':')
			continue;
		head.length = i;
		n = groups(head, out);
		m = groups((struct fault_piece){p.at + i + 2, p.length - i - 2}, tail);
		if (n < 0 || m < 0 || n + m > 7)
			return false;
		memset(out + 2 * n, 0, (size_t)(16 - 2 * n));
		memcpy(out + 16 - 2 * m, tail, (size_t)(2 * m));
		return true;
	}
	return groups(p, out) == 8;
}

bool fault_value_address(struct fault_piece p, uint8_t out[16])
{
	if (p.length && memchr(p.at, ':', p.length))
		return address_v6(p, out);
	memset(out, 0, 10);
	out[10] = out[11] = 0xff;
	return address_v4(p, out + 12);
}

static int list_number(const struct fault_text *t, struct fault_piece p,
		       const struct fault_list_form *form, uint64_t *out)
{
	const struct fault_bounds *b = &form->bounds;

	if (form->prefix && p.length && p.at[0] == form->prefix) {
		p.at++;
		p.length--;
	}
	if (!(b->sizes ? fault_value_size(p, out) : fault_value_number(p, out)))
		return fault_is(t, p, "not a number");
	if (*out < b->least || *out > b->most)
		return fault_fail(t, p.at, "%.*s is not within %" PRIu64 "..%" PRIu64,
				  (int)p.length, p.at, b->least, b->most);
	return 0;
}

/* N, N..M, N.. */
static int list_item(const struct fault_text *t, struct fault_piece p,
		     const struct fault_list_form *form, struct fault_range *out)
{
	for (size_t i = 0; i + 1 < p.length; i++) {
		const struct fault_piece high = {p.at + i + 2, p.length - i - 2};
		const struct fault_piece low = {p.at, i};

		if (p.at[i] != '.' || p.at[i + 1] != '.')
			continue;
		out->high = form->bounds.most;
		if (list_number(t, low, form, &out->low) ||
		    (high.length && list_number(t, high, form, &out->high)))
			return -EINVAL;
		if (out->high < out->low)
			return fault_fail(t, p.at, "the range's end is below its start");
		return 0;
	}
	if (list_number(t, p, form, &out->low))
		return -EINVAL;
	out->high = out->low;
	return 0;
}

static void list_add(struct fault_list *l, uint64_t low, uint64_t high)
{
	l->range[l->n++] = (struct fault_range){low, high};
}

static int compared(const struct fault_text *t, const struct fault_token *word,
		    const struct fault_list_form *form, struct fault_list *out)
{
	const struct fault_bounds *b = &form->bounds;
	const bool below = word->compare[0] == '<', above = word->compare[0] == '>';
	const bool equal = (below || above) && word->compare[1] == '=';
	uint64_t v;

	if (list_number(t, word->value, form, &v))
		return -EINVAL;
	if (!above && (v > b->least || equal)) /* <, <=, != */
		list_add(out, b->least, equal ? v : v - 1);
	if (!below && (v < b->most || equal)) /* >, >=, != */
		list_add(out, equal ? v : v + 1, b->most);
	if (out->n == 0)
		return fault_fail(t, word->value.at, "nothing is %s %.*s", word->compare,
				  (int)word->value.length, word->value.at);
	return 0;
}

int fault_value_list(const struct fault_text *t, const struct fault_token *word,
		     const struct fault_list_form *form, struct fault_list *out)
{
	struct fault_piece rest = word->value;

	out->n = 0;
	if (strcmp(word->compare, "=") != 0)
		return compared(t, word, form, out);
	for (bool more = true; more; out->n++) {
		if (out->n == FAULT_LIST_MAX)
			return fault_fail(t, rest.at, "a list has at most %d parts",
					  FAULT_LIST_MAX);
		more = rest.length && memchr(rest.at, ',', rest.length);
		if (list_item(t, fault_piece_cut(&rest, ','), form, &out->range[out->n]))
			return -EINVAL;
	}
	return 0;
}
