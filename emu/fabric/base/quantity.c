/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers with units, read and written by integers alone. */
#include "quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct suffix {
	const char *text;
	uint64_t factor;
};

#define K UINT64_C(1000)
static const struct suffix counts[] = {{"", 1}, {"K", K}, {"M", K *K}, {"G", K *K *K}, {NULL, 0}};
static const struct suffix rates[] = {
	{"T", K *K *K *K}, {"G", K *K *K},    {"M", K *K},          {"K", K},
	{"", 1},           {"Gbps", K *K *K}, {"Mbps", K *K},       {"Kbps", K},
	{"Gb/s", K *K *K}, {"Mb/s", K *K},    {"Tb/s", K *K *K *K}, {NULL, 0}};
static const struct suffix bytes[] = {
	{"G", K *K *K},   {"M", K *K},       {"K", K},          {"", 1},         {"Gi", 1u << 30},
	{"Mi", 1u << 20}, {"Ki", 1024},      {"B", 1},          {"GB", K *K *K}, {"MB", K *K},
	{"KB", K},        {"GiB", 1u << 30}, {"MiB", 1u << 20}, {"KiB", 1024},   {NULL, 0}};
static const struct suffix times[] = {{"s", K *K *K *K}, {"ms", K *K *K}, {"us", K *K},
				      {"ns", K},         {"ps", 1},       {NULL, 0}};
static const struct suffix ratios[] = {{"", FABRIC_RATIO_ONE}, {"%", FABRIC_RATIO_ONE}, {NULL, 0}};

static const struct suffix *suffixes(enum fabric_unit unit)
{
	switch (unit) {
	case FABRIC_COUNT:
		return counts;
	case FABRIC_RATE:
		return rates;
	case FABRIC_BYTES:
		return bytes;
	case FABRIC_TIME:
		return times;
	case FABRIC_RATIO:
		return ratios;
	}
	__builtin_unreachable();
}

const char *fabric_unit_example(enum fabric_unit unit)
{
	static const char *const text[] = {"a number such as 16", "a rate such as 100G",
					   "a size such as 64K", "a time such as 10us",
					   "a ratio such as 20% or 1/256"};

	return text[unit];
}

/* A decimal number as numerator and power of ten; at most 15 digits. */
struct decimal {
	uint64_t digits;
	uint64_t scale;
};

static size_t read_decimal(const char *at, size_t length, struct decimal *d)
{
	size_t i = 0, n = 0;
	bool point = false;

	*d = (struct decimal){0, 1};
	for (; i < length; i++) {
		if (at[i] == '.' && !point && i > 0) {
			point = true;
			continue;
		}
		if (at[i] < '0' || at[i] > '9')
			break;
		if (++n > 15)
			return 0;
		d->digits = d->digits * 10 + (uint64_t)(at[i] - '0');
		d->scale *= point ? 10 : 1;
	}
	return i && at[i - 1] != '.' ? i : 0;
}

static const struct suffix *find_suffix(const char *at, size_t length, enum fabric_unit unit)
{
	for (const struct suffix *s = suffixes(unit); s->text; s++)
		if (strlen(s->text) == length && memcmp(s->text, at, length) == 0)
			return s;
	return NULL;
}

static int settle(unsigned __int128 v, uint64_t *value)
{
	if (v >= UINT64_MAX)
		return -EINVAL;
	*value = (uint64_t)v;
	return 0;
}

static int read_fraction(const char *at, size_t length, struct decimal above, uint64_t *value)
{
	struct decimal below;

	if (read_decimal(at, length, &below) != length || !below.digits || below.scale != 1)
		return -EINVAL;
	return settle((((unsigned __int128)above.digits << 32) / above.scale + below.digits / 2) /
			      below.digits,
		      value);
}

int fabric_quantity(const char *at, size_t length, enum fabric_unit unit, uint64_t *value)
{
	struct decimal d;
	const size_t n = read_decimal(at, length, &d);
	const struct suffix *s;

	if (!n)
		return -EINVAL;
	if (unit == FABRIC_RATIO && n < length && at[n] == '/')
		return read_fraction(at + n + 1, length - n - 1, d, value);
	if (unit == FABRIC_TIME && n == length && d.digits == 0) {
		*value = 0;
		return 0;
	}
	s = find_suffix(at + n, length - n, unit);
	if (!s || (unit == FABRIC_COUNT && d.scale != 1))
		return -EINVAL;
	if (unit == FABRIC_RATIO && s->text[0] == '%')
		d.scale *= 100;
	return settle(((unsigned __int128)d.digits * s->factor + d.scale / 2) / d.scale, value);
}

/* A ratio as the fraction or the percentage that it was written as, most likely. */
static const char *ratio_text(uint64_t value, char *buf, size_t cap)
{
	uint64_t back, scale = 1;

	if (value && FABRIC_RATIO_ONE % value == 0 && value < FABRIC_RATIO_ONE) {
		snprintf(buf, cap, "1/%" PRIu64, FABRIC_RATIO_ONE / value);
		return buf;
	}
	for (int places = 0; places < 10; places++, scale *= 10) {
		const uint64_t n = (uint64_t)(((unsigned __int128)value * scale * 100 +
					       FABRIC_RATIO_ONE / 2) >>
					      32);

		snprintf(buf, cap, "%" PRIu64, n / scale);
		if (places)
			snprintf(buf + strlen(buf), cap - strlen(buf), ".%0*" PRIu64, places,
				 n % scale);
		strncat(buf, "%", cap - strlen(buf) - 1);
		if (fabric_quantity(buf, strlen(buf), FABRIC_RATIO, &back) == 0 && back == value)
			break;
	}
	return buf;
}

const char *fabric_quantity_text(uint64_t value, enum fabric_unit unit, char *buf, size_t cap)
{
	if (unit == FABRIC_RATIO)
		return ratio_text(value, buf, cap);
	for (const struct suffix *s = suffixes(unit); value && s->text; s++) {
		if (unit == FABRIC_COUNT || value % s->factor)
			continue;
		snprintf(buf, cap, "%" PRIu64 "%s", value / s->factor, s->text);
		return buf;
	}
	snprintf(buf, cap, "%" PRIu64, value);
	return buf;
}
