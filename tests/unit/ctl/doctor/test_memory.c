/* SPDX-License-Identifier: BSD-2-Clause */
/* What the doctor makes of a machine whose Yama, seccomp and userfaultfd are others than here. */
#include "emu/ctl/doctor/memory.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

static struct doctor_diagnostic f;

static void judge(int process_vm, int descriptor, long yama, long seccomp)
{
	struct memory_ways ways = {process_vm, descriptor, yama, seccomp};

	memory_judge_ways(&ways, &f);
}

static void test_both_ways(void **state)
{
	(void)state;
	judge(0, 0, -1, 0);
	assert_int_equal(f.mark, DOCTOR_GOOD);
	assert_null(strstr(f.text, "/proc/self/mem"));
	judge(0, EACCES, -1, 0);
	assert_int_equal(f.mark, DOCTOR_GOOD);
	assert_non_null(strstr(f.text, "/proc/self/mem cannot"));
}

static void test_one_way(void **state)
{
	(void)state;
	judge(EPERM, 0, 2, 2); /* both restrict: Yama is named, a container has it of its host */
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_non_null(strstr(f.text, strerror(EPERM)));
	assert_non_null(strstr(f.remedy, "ptrace_scope=1"));
	judge(ENOSYS, 0, -1, 2);
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_non_null(strstr(f.remedy, "seccomp"));
	judge(ENOSYS, 0, 1, 0); /* a kernel without: there is no remedy */
	assert_string_equal(f.remedy, "");
}

static void test_no_way(void **state)
{
	(void)state;
	judge(EPERM, EACCES, 3, 0);
	assert_int_equal(f.mark, DOCTOR_BAD);
	assert_non_null(strstr(f.text, strerror(EACCES)));
}

static void test_yama(void **state)
{
	static const enum doctor_mark marks[] = {DOCTOR_GOOD, DOCTOR_GOOD, DOCTOR_GOOD, DOCTOR_NOTE,
						 DOCTOR_NOTE};

	(void)state;
	for (long scope = -1; scope <= 3; scope++) {
		memory_judge_yama(scope, &f);
		assert_int_equal(f.mark, marks[scope + 1]);
	}
	assert_non_null(strstr(f.text, "no process"));
}

static void test_userfaultfd(void **state)
{
	(void)state;
	memory_judge_userfaultfd(0, false, &f);
	assert_int_equal(f.mark, DOCTOR_GOOD);
	memory_judge_userfaultfd(-1, false, &f);
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_non_null(strstr(f.text, "not kernel faults"));
	memory_judge_userfaultfd(EPERM, false, &f);
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_non_null(strstr(f.remedy, "unprivileged_userfaultfd"));
	memory_judge_userfaultfd(EPERM, true, &f);
	assert_non_null(strstr(f.remedy, "profile that allows userfaultfd"));
	memory_judge_userfaultfd(ENOSYS, true, &f);
	assert_string_equal(f.remedy, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),   cmocka_unit_test(test_one_way),
		cmocka_unit_test(test_no_way),      cmocka_unit_test(test_yama),
		cmocka_unit_test(test_userfaultfd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
