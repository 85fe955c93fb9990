/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capabilities that are laid down: those that serving needs stay in the effective set, the others
 * leave it, and the permitted set, which the kernel compares, is what it was.
 */
#include "emu/io/sandbox/rights.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT (1u << CAP_SYS_PTRACE | 1u << CAP_DAC_OVERRIDE | 1u << CAP_NET_ADMIN)

static int look(struct __user_cap_data_struct d[2])
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capget, &h, d);
}

static int lay_down(void)
{
	struct __user_cap_data_struct before[2], after[2];

	if (look(before) != 0 || io_rights_lay_down() != 0 || look(after) != 0)
		return 1;
	if (after[0].effective != (before[0].effective & KEPT) || after[1].effective != 0)
		return 2;
	if (after[0].permitted != before[0].permitted || after[1].permitted != before[1].permitted)
		return 3;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 4;
	if (chroot("/") == 0 || errno != EPERM)
		return 5;
	return io_rights_lay_down() == 0 ? 0 : 6; /* again: nothing is left */
}

static int status_of(int (*body)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_lay_down(void **state)
{
	(void)state;
	assert_int_equal(status_of(lay_down), 0);
}

static int as_nobody(void)
{
	return geteuid() == 0 && setuid(65534) != 0 ? 99 : lay_down();
}

static void test_without(void **state)
{
	(void)state;
	assert_int_equal(status_of(as_nobody), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lay_down),
		cmocka_unit_test(test_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
