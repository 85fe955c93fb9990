/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers out of files as the kernel has them, and findings that do not fit. */
#include "emu/ctl/doctor/diagnostic.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/uhca-finding-XXXXXX";

static void with(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static void test_number(void **state)
{
	(void)state;
	with("212992\n");
	assert_int_equal(doctor_read_number(path), 212992);
	with("none\n");
	assert_int_equal(doctor_read_number(path), -1);
	assert_int_equal(doctor_read_number("/no/such/file"), -1);
}

static void test_field(void **state)
{
	(void)state;
	with("Seccomp_filters:\t7\nSeccomp:\t2\nHugepagesize:    2048 kB\nName:\tSeccomp\n");
	assert_int_equal(doctor_read_field(path, "Seccomp"), 2);
	assert_int_equal(doctor_read_field(path, "Seccomp_filters"), 7);
	assert_int_equal(doctor_read_field(path, "Hugepagesize"), 2048);
	assert_int_equal(doctor_read_field(path, "Name"), -1);
	assert_int_equal(doctor_read_field(path, "Yama"), -1);
	assert_int_equal(doctor_read_field("/no/such/file", "Seccomp"), -1);
}

static void test_what_does_not_fit(void **state)
{
	struct doctor_diagnostic f;
	char longer[1000];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	doctor_diagnostic_set(&f, DOCTOR_NOTE, longer, "%s", longer);
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_int_equal(strlen(f.text), sizeof(f.text) - 1);
	assert_int_equal(strlen(f.remedy), sizeof(f.remedy) - 1);
	doctor_diagnostic_set(&f, DOCTOR_GOOD, NULL, "%d", 3);
	assert_string_equal(f.text, "3");
	assert_string_equal(f.remedy, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_field),
		cmocka_unit_test(test_what_does_not_fit),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
