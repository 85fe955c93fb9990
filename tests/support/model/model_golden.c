/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares a text with tests/golden/model/NAME.txt. */
#include "model_golden.h"

#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_golden(const char *name, const char *text)
{
	const char *srcdir = getenv("UHCA_SRCDIR");
	static char expected[65536];
	char path[4096];
	size_t n;
	FILE *f;

	if (!srcdir)
		fail_msg("UHCA_SRCDIR is not set");
	snprintf(path, sizeof(path), "%s/tests/golden/model/%s.txt", srcdir, name);
	if (getenv("UHCA_GOLDEN_UPDATE")) {
		f = fopen(path, "w");
		assert_non_null(f);
		assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
		assert_int_equal(fclose(f), 0);
		return;
	}
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s is not there", path);
	n = fread(expected, 1, sizeof(expected) - 1, f);
	expected[n] = '\0';
	fclose(f);
	if (strcmp(expected, text) != 0)
		fail_msg("%s is not what is told:\n%s", path, text);
}
