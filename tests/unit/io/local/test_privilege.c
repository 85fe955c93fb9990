/* SPDX-License-Identifier: BSD-2-Clause */
/* The right to raw packets: this process as it is, and a child that gave its rights up. */
#include "emu/io/local/privilege.h"
#include "tests/support/wire/cmocka_all.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool effective(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {{0}};

	assert_int_equal(syscall(SYS_capget, &h, d), 0);
	return d[0].effective >> CAP_NET_RAW & 1;
}

static void test_self(void **state)
{
	(void)state;
	assert_int_equal(io_privilege_net_raw(getpid()), effective());
}

static void give_up(int told)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {{0}};

	if (syscall(SYS_capset, &h, d) != 0 || write(told, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void test_without(void **state)
{
	int fd[2];
	char c;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		give_up(fd[1]);
	close(fd[1]);
	assert_int_equal(read(fd[0], &c, 1), 1);
	assert_false(io_privilege_net_raw(pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(io_privilege_net_raw(pid)); /* nobody has no rights */
	close(fd[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_without),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
