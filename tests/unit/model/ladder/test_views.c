/* SPDX-License-Identifier: BSD-2-Clause */
/* All views of a model say the same: of the small samples, and of the captures of Linux. */
#include "tests/support/model/capture_samples.h"
#include "tests/support/model/model_views.h"
#include "tests/support/wire/cmocka_all.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static void test_capture_samples(void **state)
{
	char name[32];
	struct model s;

	(void)state;
	for (unsigned which = 0; which < SAMPLES; which++) {
		capture_sample(&s, (enum sample)which);
		snprintf(name, sizeof(name), "sample %u", which);
		assert_int_equal(model_views_check(&s, name, stderr), 0);
		model_free(&s);
	}
}

static void test_goldens(void **state)
{
	const char *root = getenv("UHCA_SRCDIR");
	char folder[4096], path[8192];
	struct dirent *e;
	unsigned n = 0;
	struct model s;
	DIR *d;

	(void)state;
	assert_non_null(root);
	snprintf(folder, sizeof(folder), "%s/tests/golden/captures", root);
	d = opendir(folder);
	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		if (!strstr(e->d_name, ".pcap"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		assert_int_equal(model_read(&s, path), 0);
		assert_int_equal(model_views_check(&s, e->d_name, stderr), 0);
		model_free(&s);
		n++;
	}
	closedir(d);
	assert_true(n > 5);
}

/* Each cause is said, with what it names, and read as it was written. */
static void test_causes(void **state)
{
	char text[MODEL_CAUSE_MAX];

	(void)state;
	for (unsigned kind = 1; kind < UHCA_ABI_CAUSES; kind++) {
		const struct uhca_abi_cause c = {.kind = (enum uhca_abi_cause_kind)kind,
						 .key = 0x77,
						 .rights = 2,
						 .bytes = 1};

		model_cause_text(&c, text, sizeof(text));
		assert_true(strlen(text) > 10);
		if (kind <= UHCA_ABI_CAUSE_INVALIDATE)
			assert_non_null(strstr(text, "0x77"));
	}
}

static void expect_cause(struct uhca_abi_cause c, const char *want)
{
	char text[MODEL_CAUSE_MAX];

	assert_string_equal(model_cause_text(&c, text, sizeof(text)), want);
}

static void test_ranges(void **state)
{
	struct uhca_abi_cause c = {.kind = UHCA_ABI_CAUSE_RANGE,
				   .key = 0x12,
				   .at = 0x1001,
				   .bytes = 4096,
				   .start = 0x1000,
				   .size = 4096};

	(void)state;
	expect_cause(c, "4096 bytes at 0x1001 end 1 byte behind the region of key 0x12, which has "
			"4096 bytes, 0x1000 to 0x1fff");
	c.at = 0xffe;
	expect_cause(c, "4096 bytes at 0xffe begin 2 bytes before the region of key 0x12, which "
			"has 4096 bytes, 0x1000 to 0x1fff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture_samples),
		cmocka_unit_test(test_goldens),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
