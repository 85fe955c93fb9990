/* SPDX-License-Identifier: BSD-2-Clause */
/* What the doctor makes of ports, devices and limits that are others than here. */
#include "emu/ctl/doctor/machine.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

static struct doctor_diagnostic f;

static void test_port(void **state)
{
	(void)state;
	machine_judge_port(0, 0, &f);
	assert_int_equal(f.mark, DOCTOR_GOOD);
	machine_judge_port(EADDRINUSE, 0, &f); /* a daemon of somebody has 127.0.0.1 */
	assert_int_equal(f.mark, DOCTOR_GOOD);
	assert_non_null(strstr(f.text, "in use at 127.0.0.1"));
	machine_judge_port(EADDRINUSE, EADDRINUSE, &f);
	assert_int_equal(f.mark, DOCTOR_BAD);
	assert_non_null(strstr(f.remedy, "rdma_rxe"));
	machine_judge_port(EPERM, EPERM, &f);
	assert_int_equal(f.mark, DOCTOR_BAD);
	assert_string_equal(f.remedy, "");
}

static void test_sandbox(void **state)
{
	(void)state;
	machine_judge_sandbox(0, &f);
	assert_int_equal(f.mark, DOCTOR_GOOD);
	machine_judge_sandbox(ENOSYS, &f);
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_non_null(strstr(f.text, strerror(ENOSYS)));
	assert_non_null(strstr(f.remedy, "profile"));
}

static void test_breakpoints(void **state)
{
	(void)state;
	machine_judge_breakpoints(0, &f);
	assert_int_equal(f.mark, DOCTOR_GOOD);
	machine_judge_breakpoints(EPERM, &f); /* a container's filter of system calls */
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_non_null(strstr(f.text, "wc-unset"));
	assert_non_null(strstr(f.remedy, "perf_event_open(2)"));
	machine_judge_breakpoints(EOPNOTSUPP, &f); /* a hypervisor without debug registers */
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_non_null(strstr(f.text, "reports no access"));
	assert_string_equal(f.remedy, "");
}

static void test_devices(void **state)
{
	(void)state;
	machine_judge_devices("", &f);
	assert_int_equal(f.mark, DOCTOR_GOOD);
	machine_judge_devices("mlx5_0 rxe0", &f);
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_non_null(strstr(f.text, "mlx5_0 rxe0"));
}

static void test_descriptors(void **state)
{
	(void)state;
	machine_judge_descriptors(1024, 1024, &f);
	assert_int_equal(f.mark, DOCTOR_GOOD);
	machine_judge_descriptors(256, 4096, &f);
	assert_int_equal(f.mark, DOCTOR_NOTE);
	assert_string_equal(f.remedy, "ulimit -n 1024");
	machine_judge_descriptors(256, 256, &f);
	assert_non_null(strstr(f.remedy, "as root"));
}

static void test_processors(void **state)
{
	(void)state;
	machine_judge_processors(2, &f);
	assert_int_equal(f.mark, DOCTOR_NOTE);
	machine_judge_processors(3, &f);
	assert_int_equal(f.mark, DOCTOR_GOOD);
}

static void test_programs(void **state)
{
	const struct doctor_places none = {"/no/such/uhcad", "/no/such.so"};
	const struct doctor_places half = {"/bin/sh", "/no/such.so"};
	const struct doctor_places both = {"/bin/sh", "/bin/sh"};

	(void)state;
	machine_check_programs(&none, &f);
	assert_int_equal(f.mark, DOCTOR_BAD);
	assert_non_null(strstr(f.text, "/no/such/uhcad"));
	machine_check_programs(&half, &f);
	assert_int_equal(f.mark, DOCTOR_BAD);
	assert_non_null(strstr(f.text, "/no/such.so"));
	machine_check_programs(&both, &f);
	assert_int_equal(f.mark, DOCTOR_GOOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port),       cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_devices),    cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_processors), cmocka_unit_test(test_programs),
		cmocka_unit_test(test_sandbox),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
