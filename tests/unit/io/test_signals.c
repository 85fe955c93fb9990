/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each signal does to the daemon, from the first number to the last; and who reads its log:
 * one that goes, one that does not read, one that moves the file away.
 */
#include "emu/ctl/lib/lib.h"
#include "emu/io/base/clock.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/io/uhcad_process.h"
#include "tests/support/wire/cmocka_all.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *none[] = {NULL};
static char *to_stderr[] = {(char *)(uintptr_t) "--stderr", NULL};

/* True: the daemon has answered. */
static bool ask(const struct uhcad_process *d, json_t *request)
{
	struct ctl_failure f;
	json_t *result = NULL;
	bool ok = ctl_exchange(d->dir, request, &result, &f) == 0;

	if (!ok)
		print_error("%s\n", f.text);
	json_decref(result);
	return ok;
}

static bool serves(const struct uhcad_process *d)
{
	return ask(d, json_pack("{s:s}", "cmd", "version"));
}

/* The log has a line of each. */
static bool make_line(const struct uhcad_process *d)
{
	return ask(d, json_pack("{s:s, s:s}", "cmd", "fault", "action", "clear"));
}

/* ---- each of them ---- */

enum fate { STAYS, ENDS, DIES };

static enum fate fate_of(int signum)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGQUIT, SIGXCPU};
	static const int dies[] = {SIGKILL, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i] == signum)
			return ENDS;
	for (size_t i = 0; i < sizeof(dies) / sizeof(dies[0]); i++)
		if (dies[i] == signum)
			return DIES;
	return STAYS;
}

/*
 * AddressSanitizer reports those of a crash, with a status of its own; and a daemon that is built
 * with it has no sandbox, whose handler takes SIGSYS.
 */
static bool is_judged(int signum)
{
#ifdef __SANITIZE_ADDRESS__
	static const int others[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] == signum)
			return false;
#else
	(void)signum;
#endif
	return true;
}

/* libc's kill(3) takes those that it keeps for itself, too, but to be sure. */
static void raise_at(const struct uhcad_process *d, int signum)
{
	assert_int_equal(syscall(SYS_kill, d->pid, signum), 0);
}

static void test_those_that_end(void **state)
{
	struct uhcad_process d;

	(void)state;
	for (int s = 1; s <= SIGRTMAX; s++) {
		if (fate_of(s) == STAYS || !is_judged(s))
			continue;
		uhcad_start(&d, none);
		raise_at(&d, s);
		assert_int_equal(uhcad_wait_end(&d, NULL), fate_of(s) == ENDS ? 0 : 128 + s);
		if (fate_of(s) == ENDS)
			assert_false(uhcad_has(&d, "sock") || uhcad_has(&d, "sys"));
		uhcad_clean(&d);
	}
}

static void test_those_that_do_not(void **state)
{
	struct uhcad_process d;

	(void)state;
	uhcad_start(&d, none);
	for (int s = 1; s <= SIGRTMAX; s++) {
		if (fate_of(s) != STAYS || !is_judged(s))
			continue;
		raise_at(&d, s);
		raise_at(&d, SIGCONT); /* behind one that stops it */
		if (!serves(&d))
			fail_msg("signal %d", s);
	}
	kill(d.pid, SIGTERM);
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
	uhcad_clean(&d);
}

/* ---- the log's readers ---- */

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : 0;
}

/* As logrotate(8) does it. */
static void test_log_moved_away(void **state)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	char path[96], moved[100];
	struct uhcad_process d;
	off_t before;

	(void)state;
	uhcad_start(&d, none);
	snprintf(path, sizeof(path), "%s/log", d.dir);
	snprintf(moved, sizeof(moved), "%s.old", path);
	assert_int_equal(rename(path, moved), 0);
	kill(d.pid, SIGHUP);
	while (size_of(path) == 0 && sched_yield() == 0)
		assert_true(io_clock_now() < end);
	before = size_of(moved);
	assert_true(make_line(&d));
	kill(d.pid, SIGTERM);
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
	assert_int_equal(size_of(moved), before);
	uhcad_clean(&d);
}

/* Its standard error is this pipe; the other end is returned. */
static int start_into_pipe(struct uhcad_process *d)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
	io_test_dir(d->dir);
	d->said = ends[1];
	uhcad_spawn_saying(d, to_stderr);
	assert_string_equal(uhcad_wait_ready(d), "ready\n");
	return ends[0];
}

static void test_reader_goes(void **state)
{
	struct uhcad_process d;
	int reader;

	(void)state;
	reader = start_into_pipe(&d);
	close(d.said);
	close(reader);
	for (unsigned i = 0; i < 3; i++)
		assert_true(make_line(&d));
	kill(d.pid, SIGTERM);
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
	d.said = -1;
	uhcad_clean(&d);
}

/* The pipe is full after some tens of lines. */
static void test_reader_does_not_read(void **state)
{
	struct uhcad_process d;
	char bytes[8192];
	int reader;

	(void)state;
	reader = start_into_pipe(&d);
	for (unsigned i = 0; i < 200; i++)
		assert_true(make_line(&d));
	assert_true(fcntl(reader, F_SETFL, O_NONBLOCK) == 0);
	while (read(reader, bytes, sizeof(bytes)) > 0)
		;
	assert_true(make_line(&d));
	for (unsigned i = 0; i < 200; i++)
		assert_true(make_line(&d));
	kill(d.pid, SIGTERM); /* and it does not wait for the reader, either */
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
	close(reader);
	uhcad_clean(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_those_that_end),
		cmocka_unit_test(test_those_that_do_not),
		cmocka_unit_test(test_log_moved_away),
		cmocka_unit_test(test_reader_goes),
		cmocka_unit_test(test_reader_does_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
