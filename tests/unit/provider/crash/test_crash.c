/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals go to the program's own handlers as if nobody had been before them: handlers that were
 * there, that came later, and that call the former one.
 */
#include "provider/crash/crash.h"

#include "tests/support/wire/cmocka_all.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t n_first, n_later;
static struct sigaction before_later;
static sigjmp_buf back;

static void first(int sig)
{
	(void)sig;
	n_first++;
	siglongjmp(back, 1);
}

static void later(int sig, siginfo_t *info, void *context)
{
	n_later++;
	if (before_later.sa_flags & SA_SIGINFO)
		before_later.sa_sigaction(sig, info, context);
	else
		before_later.sa_handler(sig);
}

/* Sanitizers of the compiler must not report it. */
__attribute__((no_sanitize("undefined", "address", "thread"))) static void crash(void)
{
	if (!sigsetjmp(back, 1))
		*(volatile int *)(uintptr_t)(n_first & 0) = 1;
}

static void test_first(void **state)
{
	struct sigaction to = {.sa_handler = first};

	(void)state;
	assert_false(sigaction(SIGSEGV, &to, NULL));
	uhcav_crash_begin(NULL);
	crash();
	crash();
	assert_int_equal(n_first, 2);
}

/* It has us as the former one, and we have it: each is called once. */
static void test_later(void **state)
{
	struct sigaction to = {.sa_sigaction = later, .sa_flags = SA_SIGINFO};

	(void)state;
	assert_false(sigaction(SIGSEGV, &to, &before_later));
	uhcav_crash_listen();
	crash();
	crash();
	assert_int_equal(n_first, 4);
	assert_int_equal(n_later, 2);
}

static void test_default(void **state)
{
	int status = 0;
	pid_t child = fork();

	(void)state;
	if (!child) {
		signal(SIGBUS, SIG_DFL);
		uhcav_crash_begin(NULL);
		raise(SIGBUS);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
