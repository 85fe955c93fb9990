/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that goes into the sandbox, one that does not want to, and one that cannot: what the
 * kernel, the log and the state say of it.
 */
#include "emu/io/base/log.h"
#include "emu/io/sandbox/sandbox.h"
#include "tests/support/io/confined.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <ev.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static char path[128];
static char text[4096];

/* A number of a line of /proc/self/status, -1: no such line. */
static long status_line(const char *name)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	long n = -1;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			n = strtol(line + strlen(name) + 1, NULL, 10);
	if (f)
		fclose(f);
	return n;
}

/* Does the child's state begin so? The log says the same. */
static bool says(const char *beginning)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	char line[256];

	text[n] = '\0';
	if (f)
		fclose(f);
	unlink(path);
	snprintf(line, sizeof(line), ": sandbox: %s\n", io_sandbox_state());
	if (strncmp(io_sandbox_state(), beginning, strlen(beginning)) == 0 && strstr(text, line))
		return true;
	fprintf(stderr, "the state is '%s', the log '%s'\n", io_sandbox_state(), text);
	return false;
}

static int run(int (*body)(struct ev_loop *loop))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct ev_loop *loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);

		io_log_open(IO_LOG_INFO, IO_LOG_FILE, path);
		status = body(loop);
		io_sandbox_leave(loop);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int go_in(struct ev_loop *loop)
{
	io_sandbox_enter(loop, true);
#ifdef UHCA_INSTRUMENTED
	return says("off: built with") ? 0 : 1;
#else
	if (status_line("Seccomp") != 2 || status_line("NoNewPrivs") != 1)
		return 2;
	if (execl("/bin/true", "true", NULL) != -1 || errno != ENOSYS)
		return 3;
	return says("on") ? 0 : 1;
#endif
}

static void test_in(void **state)
{
	(void)state;
	assert_int_equal(run(go_in), 0);
}

static int stay_out(struct ev_loop *loop)
{
	long before = status_line("Seccomp");

	io_sandbox_enter(loop, false);
	return says("off: --no-sandbox") && status_line("Seccomp") == before ? 0 : 1;
}

static void test_out(void **state)
{
	(void)state;
	assert_int_equal(run(stay_out), 0);
}

/* As a container does it whose profile lacks both ways to a filter. */
static bool take_away_filters(void)
{
	struct sock_filter code[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
		{BPF_JMP | BPF_JEQ | BPF_K, 3, 0, SYS_seccomp},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_prctl},
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args)},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PR_SET_SECCOMP},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int be_refused(struct ev_loop *loop)
{
	if (!take_away_filters())
		return 99;
	io_sandbox_enter(loop, true);
	if (!says("off: "))
		return 1;
#ifndef UHCA_INSTRUMENTED
	if (!strstr(io_sandbox_state(), "seccomp(2): "))
		return 2;
#endif
	return status_line("NoNewPrivs") == 1 ? 0 : 3;
}

static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(run(be_refused), 0);
}

static int setup(void **state)
{
	(void)state;
	io_test_dir(dir);
	snprintf(path, sizeof(path), "%s/log", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_remove_dir(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in),
		cmocka_unit_test(test_out),
		cmocka_unit_test(test_refused),
	};

	if (!confined_possible()) {
		puts("seccomp(2) has no filters here");
		return 77;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
