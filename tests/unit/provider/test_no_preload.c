/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider alone, without the library that lies beside it, says what it misses. (That it works
 * with it is tests/verbs/system/no_preload.sh.)
 */
#include "tests/support/wire/cmocka_all.h"

#include "provider/no_preload.h"

#include <stdlib.h>
#include <string.h>

static int never(int cmd_fd)
{
	(void)cmd_fd;
	return -1;
}

static const struct uhca_preload_hooks hooks = {
	.size = sizeof(hooks), .create_comp_channel = never, .async_fd = never};

static void test_no_instance(void **state)
{
	const char *why;

	(void)state;
	unsetenv("UHCA_DIR");
	why = uhcav_no_preload(&hooks);
	assert_non_null(why);
	assert_non_null(strstr(why, "UHCA_DIR"));
}

static void test_library_missing(void **state)
{
	const char *why;

	(void)state;
	setenv("UHCA_DIR", "/nonexistent", 1);
	why = uhcav_no_preload(&hooks);
	assert_non_null(why);
	assert_non_null(strstr(why, "libuhca_preload.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_instance),
					   cmocka_unit_test(test_library_missing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
