/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the reason of a refused control verb and keeps it for core_refusal. */
#include "base.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct text {
	char *at;
	size_t room; /* beside the end */
};

static void reason_append(struct text *t, const char *from, size_t n)
{
	n = n < t->room ? n : t->room;
	memcpy(t->at, from, n);
	t->at += n;
	t->room -= n;
}

/* At least "width" digits. */
static void put_number(struct text *t, uint64_t number, unsigned base, unsigned width)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = "0123456789abcdef"[number % base];
		number /= base;
	} while (n && (number || sizeof(digits) - n < width));
	reason_append(t, digits + n, sizeof(digits) - n);
}

/* What stands between "%" and the conversion's letter. */
struct conversion {
	char letter;
	unsigned width; /* of numbers, with zeroes before them */
	unsigned longs;
};

/* Returns where the words go on. */
static const char *read_conversion(const char *words, struct conversion *c)
{
	*c = (struct conversion){0};
	for (; *words >= '0' && *words <= '9'; words++)
		c->width = c->width * 10 + (unsigned)(*words - '0');
	for (; *words == 'l'; words++)
		c->longs++;
	c->letter = *words;
	return *words ? words + 1 : words;
}

static void put_value(struct text *t, const struct conversion *c, va_list *values)
{
	unsigned longs = c->longs;
	int64_t number;

	switch (c->letter) {
	case 's': {
		const char *s = va_arg(*values, const char *);
		reason_append(t, s, strlen(s));
		return;
	}
	case 'd':
		number = longs ? va_arg(*values, long) : va_arg(*values, int);
		if (number < 0)
			reason_append(t, "-", 1);
		put_number(t, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10, c->width);
		return;
	case 'u':
	case 'x':
		put_number(t,
			   longs > 1 ? va_arg(*values, unsigned long long)
			   : longs   ? va_arg(*values, unsigned long)
				     : va_arg(*values, unsigned),
			   c->letter == 'u' ? 10 : 16, c->width);
		return;
	}
	reason_append(t, "%", 1);
}

int device_say(struct device *dev, const char *words, ...)
{
	struct text t = {dev->refusal, sizeof(dev->refusal) - 1};
	va_list values;

	va_start(values, words);
	while (*words) {
		size_t plain = strcspn(words, "%");
		struct conversion c;

		reason_append(&t, words, plain);
		words += plain;
		if (!*words)
			break;
		words = read_conversion(words + 1, &c);
		put_value(&t, &c, &values);
	}
	va_end(values);
	*t.at = '\0';
	return 0;
}

int device_check_limit(struct device *dev, const char *attribute, uint64_t value, const char *limit,
		       uint64_t most)
{
	if (value <= most)
		return 0;
	return device_refuse(dev, -EINVAL, "%s %" PRIu64 " is above the device's %s, %" PRIu64,
			     attribute, value, limit, most);
}

const char *core_refusal(const struct device *dev)
{
	return dev->refusal;
}

void core_forget_refusal(struct device *dev)
{
	dev->refusal[0] = '\0';
}
