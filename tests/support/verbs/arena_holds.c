/* SPDX-License-Identifier: BSD-2-Clause */
#include "arena_holds.h"

#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <string.h>

bool arena_holds(const void *at, size_t length)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t next = (uintptr_t)at, end = next + length;
	char line[512];

	assert_non_null(maps);
	while (next < end && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;

		assert_int_equal(sscanf(line, "%lx-%lx", &from, &to), 2);
		if (from <= next && next < to && strstr(line, "memfd:uhca-arena"))
			next = to;
	}
	fclose(maps);
	return next >= end;
}
