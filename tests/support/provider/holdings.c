/* SPDX-License-Identifier: BSD-2-Clause */
#include "holdings.h"

#include "tests/support/wire/cmocka_all.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define DEADLINE_MS 120000

static unsigned count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static unsigned count_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "/memfd:fake") != NULL;
	fclose(f);
	return n;
}

struct holdings holdings_now(void)
{
	return (struct holdings){count_descriptors(), count_mappings()};
}

/* The daemon's thread may not have closed yet what it has sent. */
void holdings_assert(struct holdings before)
{
	struct holdings now = holdings_now();

	for (int i = 0; i < DEADLINE_MS && memcmp(&now, &before, sizeof(now)) != 0; i++) {
		poll(NULL, 0, 1);
		now = holdings_now();
	}
	assert_int_equal(now.descriptors, before.descriptors);
	assert_int_equal(now.mappings, before.mappings);
}
