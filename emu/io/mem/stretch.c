/* SPDX-License-Identifier: BSD-2-Clause */
/* Merges neighbouring pieces of memory into one read with gaps. */
#include "stretch.h"

#include <string.h>

/* A step is shorter than a page: the pages of a gap are those of the pieces at its ends. */
static bool follows(const struct core_span *s, uint64_t end)
{
	return s->addr >= end && s->addr - end + s->length <= IO_STRETCH_STEP;
}

static bool is_small(const struct core_span *s)
{
	return s->space == CORE_SPACE_CLIENT && s->length > 0 && s->length <= IO_STRETCH_STEP;
}

bool io_stretch_pays(const struct core_span *from, unsigned n)
{
	unsigned close = 0;

	for (unsigned i = 0; i < n; i++)
		if (!is_small(&from[i]))
			return false;
	for (unsigned i = 1; i < n; i++)
		close += follows(&from[i], from[i - 1].addr + from[i - 1].length);
	return 2 * close > n;
}

struct io_stretch io_stretch_next(const struct core_span *from, unsigned n)
{
	struct io_stretch s = {from->addr, from->length, 1};

	while (s.n < n && follows(&from[s.n], s.addr + s.length)) {
		uint64_t length = from[s.n].addr + from[s.n].length - s.addr;

		if (length > IO_STRETCH_BYTES)
			break;
		s.length = (size_t)length;
		s.n++;
	}
	return s;
}

uint8_t *io_stretch_pick(const struct io_stretch *s, const struct core_span *from,
			 const uint8_t *bytes, uint8_t *to)
{
	for (unsigned i = 0; i < s->n; i++) {
		memcpy(to, bytes + (from[i].addr - s->addr), from[i].length);
		to += from[i].length;
	}
	return to;
}
