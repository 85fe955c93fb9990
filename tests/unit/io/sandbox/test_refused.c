/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A refused call is told in the log once, by its name, however often it was made, in whatever
 * thread; also when the loop ends before it has told it.
 */
#include "emu/io/sandbox/refused.h"
#include "tests/support/io/confined.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <ev.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static char dir[64];
static char path[128];
static char text[8192];

static const char *log_text(void)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = '\0';
	if (f)
		fclose(f);
	unlink(path);
	return text;
}

static unsigned lines(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static int call_twice(struct ev_loop *loop, void *arg)
{
	bool heard = *(bool *)arg;

	for (int i = 0; i < 2; i++) {
		if (chroot("/") == 0 || errno != ENOSYS || socket(AF_INET, SOCK_STREAM, 0) >= 0 ||
		    errno != EPERM)
			return 1;
		if (heard)
			io_test_loop_pass(loop);
	}
	return 0;
}

static void check_logged(bool heard)
{
	const char *told;

	assert_int_equal(confined_run(path, call_twice, &heard), 0);
	told = log_text();
	assert_int_equal(lines(told), 2);
	assert_non_null(strstr(told, "warn: sandbox: chroot (system call "));
	assert_non_null(strstr(told, "is refused: Function not implemented"));
	assert_non_null(strstr(told, "warn: sandbox: socket (system call "));
	assert_non_null(strstr(told, "is refused with these arguments: Operation not permitted"));
}

static void test_logged(void **state)
{
	(void)state;
	check_logged(true);
}

static void test_logged_at_the_end(void **state)
{
	(void)state;
	check_logged(false);
}

static void *call_chroot(void *result)
{
	*(int *)result = chroot("/") < 0 ? errno : 0;
	return NULL;
}

/* As the reaper's threads are made: no signal but SIGSYS. */
static int call_in_thread(struct ev_loop *loop, void *arg)
{
	sigset_t all;
	pthread_t t;
	int error = 0;

	(void)arg;
	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	if (pthread_create(&t, NULL, call_chroot, &error) != 0 || pthread_join(t, NULL) != 0)
		return 1;
	io_test_loop_pass(loop);
	return error == ENOSYS ? 0 : 2;
}

static void test_thread(void **state)
{
	(void)state;
	assert_int_equal(confined_run(path, call_in_thread, NULL), 0);
	assert_non_null(strstr(log_text(), "chroot"));
}

/* What libc makes of its own process at times is not told. */
static int call_quietly(struct ev_loop *loop, void *arg)
{
	(void)arg;
	if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
		return 1;
	io_test_loop_pass(loop);
	return 0;
}

static void test_quiet(void **state)
{
	(void)state;
	assert_int_equal(confined_run(path, call_quietly, NULL), 0);
	assert_string_equal(log_text(), "");
}

/* A SIGSYS that somebody sends is no refused call, and nothing. */
static int send_sigsys(struct ev_loop *loop, void *arg)
{
	(void)arg;
	raise(SIGSYS);
	io_test_loop_pass(loop);
	return 0;
}

static void test_sent(void **state)
{
	(void)state;
	assert_int_equal(confined_run(path, send_sigsys, NULL), 0);
	assert_string_equal(log_text(), "");
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
		cmocka_unit_test(test_logged), cmocka_unit_test(test_logged_at_the_end),
		cmocka_unit_test(test_thread), cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_sent),
	};

	if (!confined_possible() || !io_refused_can_report()) {
		puts("refused calls are not told here");
		return 77;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
