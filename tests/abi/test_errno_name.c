/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of errno values are those of the C library, where it has a function for them. */
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/errno_name.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(uhca_errno_name(ENOMEM), "ENOMEM");
	assert_string_equal(uhca_errno_name(EHWPOISON), "EHWPOISON");
	assert_null(uhca_errno_name(0));
	assert_null(uhca_errno_name(-ENOMEM));
	assert_null(uhca_errno_name(INT_MAX));
}

static void test_all(void **state)
{
	(void)state;
#if __GLIBC_PREREQ(2, 32)
	for (int n = 1; n < 4096; n++) {
		const char *name = strerrorname_np(n);

		if (name)
			assert_string_equal(uhca_errno_name(n), name);
		else
			assert_null(uhca_errno_name(n));
	}
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
