/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon, with its sandbox, and files that a user names on a file system that does not answer:
 * who asked for them is told so, and everybody else is served as before. The same for one that
 * answers for a while, and for the daemon's own directory.
 */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/io/base/base.h"
#include "tests/support/io/deaf_fs.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/io/uhcad_process.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Others are asked as often while one request waits. */
#define OTHERS 50

static struct uhcad_process d;
static struct deaf_fs *fs;
static const char *why_not;
static char deaf[64], good[64];

/* Mounted before the daemon begins, which is to see it. */
static int setup(void **state)
{
	static char *none[] = {NULL};

	(void)state;
	io_test_dir(deaf);
	io_test_dir(good);
	fs = deaf_fs_mount(deaf, &why_not);
	if (fs)
		uhcad_start(&d, none);
	return 0;
}

/*
 * It ends without the file system: nobody can connect any more. The process stays as long as the
 * kernel keeps a thread of it waiting, which not even SIGKILL ends (see
 * docs/explanation/security.md).
 */
static void end_daemon(void)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;

	kill(d.pid, SIGTERM);
	while (uhcad_has(&d, "sock") && sched_yield() == 0)
		assert_true(io_clock_now() < end);
	deaf_fs_end(fs, deaf);
	assert_int_equal(uhcad_wait_end(&d, NULL), 0);
}

static int teardown(void **state)
{
	(void)state;
	if (fs) {
		end_daemon();
		uhcad_clean(&d);
	}
	io_test_remove_dir(good);
	io_test_remove_dir(deaf);
	return 0;
}

static void need_deaf_fs(void)
{
	if (!fs) {
		print_message("%s\n", why_not);
		skip();
	}
}

/* ---- requests ---- */

struct asking {
	const char *cmd, *action, *file;
	pthread_t thread;
	int status;
	json_t *result;
	struct ctl_failure why;
};

static json_t *request(const char *cmd, const char *action, const char *file)
{
	json_t *r = json_pack("{s:s}", "cmd", cmd);

	if (action)
		json_object_set_new(r, "action", json_string(action));
	if (file)
		json_object_set_new(r, "file", json_string(file));
	return r;
}

static void *ask(void *arg)
{
	struct asking *a = arg;

	a->status = ctl_exchange(d.dir, request(a->cmd, a->action, a->file), &a->result, &a->why);
	return NULL;
}

static void begin(struct asking *a, const char *cmd, const char *action, const char *file)
{
	*a = (struct asking){.cmd = cmd, .action = action, .file = file};
	assert_int_equal(pthread_create(&a->thread, NULL, ask, a), 0);
}

static void end(struct asking *a)
{
	assert_int_equal(pthread_join(a->thread, NULL), 0);
}

/* The result, which the caller drops; NULL: it failed. */
static json_t *now(const char *cmd, const char *action, const char *file)
{
	struct asking a = {.cmd = cmd, .action = action, .file = file};

	ask(&a);
	if (a.status)
		print_message("%s %s: %s\n", cmd, action ? action : "", a.why.text);
	return a.result;
}

static void others_are_served(void)
{
	for (unsigned i = 0; i < OTHERS; i++) {
		json_t *result = now("version", NULL, NULL);

		assert_non_null(result);
		json_decref(result);
	}
}

/* ---- files that nobody brings ---- */

static void test_never_answers(void **state)
{
	static const struct {
		const char *cmd, *action;
	} rows[] = {
		{"capture", "start"}, {"capture", "dump"}, {"fault", "load"}, {"fault", "replay"}};
	char file[80];

	(void)state;
	need_deaf_fs();
	snprintf(file, sizeof(file), "%s/x", deaf);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct asking a;

		begin(&a, rows[i].cmd, rows[i].action, file);
		others_are_served();
		end(&a);
		assert_int_not_equal(a.status, 0);
		if (!strstr(a.why.text, "does not respond"))
			fail_msg("%s %s: %s", rows[i].cmd, rows[i].action, a.why.text);
	}
}

/* Who waits for such a file has no effect on what comes later. */
static void test_start_is_taken_back(void **state)
{
	char file[80];
	json_t *facts;

	(void)state;
	need_deaf_fs();
	snprintf(file, sizeof(file), "%s/x", deaf);
	assert_null(now("capture", "start", file));
	snprintf(file, sizeof(file), "%s/x", good);
	facts = now("capture", "start", file);
	assert_true(json_is_true(json_object_get(facts, UHCA_CTL_RUNNING)));
	json_decref(facts);
	facts = now("capture", "stop", NULL);
	assert_non_null(facts);
	json_decref(facts);
}

/* As many as do not end: then no more of them are begun. */
static void test_too_many(void **state)
{
	struct asking a[20];
	char file[80];
	bool refused = false;

	(void)state;
	need_deaf_fs();
	snprintf(file, sizeof(file), "%s/x", deaf);
	for (unsigned i = 0; i < 20; i++)
		begin(&a[i], "fault", "load", file);
	others_are_served();
	for (unsigned i = 0; i < 20; i++) {
		end(&a[i]);
		assert_int_not_equal(a[i].status, 0);
		refused |= strstr(a[i].why.text, "too many files") != NULL;
	}
	assert_true(refused);
}

/* ---- one that stops to answer ---- */

/* Something for the capture's file. */
static void make_records(void)
{
	for (unsigned i = 0; i < 10; i++) {
		struct ctl_failure f;
		json_t *result = NULL;

		assert_int_equal(ctl_exchange(d.dir,
					      json_pack("{s:s, s:s, s:s}", "cmd", "fault", "action",
							"add", "text", "drop opcode=rc.ack"),
					      &result, &f),
				 0);
		json_decref(result);
		result = now("fault", "clear", NULL);
		assert_non_null(result);
		json_decref(result);
	}
}

static void test_stops_to_answer(void **state)
{
	char file[80];
	struct asking a;
	json_t *facts;

	(void)state;
	need_deaf_fs();
	snprintf(file, sizeof(file), "%s/x", deaf);
	deaf_fs_hear(fs, true);
	facts = now("capture", "start", file);
	assert_true(json_is_true(json_object_get(facts, UHCA_CTL_RUNNING)));
	json_decref(facts);
	deaf_fs_hear(fs, false);
	make_records();
	facts = now("capture", "status", NULL);
	assert_true(json_integer_value(json_object_get(facts, UHCA_CTL_WAITING)) > 0);
	assert_int_equal(json_integer_value(json_object_get(facts, UHCA_CTL_LOST)), 0);
	json_decref(facts);
	begin(&a, "capture", "stop", NULL);
	others_are_served();
	end(&a);
	assert_int_not_equal(a.status, 0);
	assert_non_null(strstr(a.why.text, "does not respond"));
}

/* ---- files of the daemon ---- */

static json_t *port(const char *action)
{
	struct ctl_failure f;
	json_t *result = NULL;

	if (ctl_exchange(d.dir, json_pack("{s:s, s:s}", "cmd", "port", "action", action), &result,
			 &f))
		print_message("port %s: %s\n", action, f.text);
	return result;
}

/* Where programs look for its devices. It ends nevertheless (teardown). */
static void test_own_directory(void **state)
{
	char path[160];

	(void)state;
	need_deaf_fs();
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca0/ports/1", d.dir);
	assert_int_equal(mount(deaf, path, NULL, MS_BIND, NULL), 0);
	for (unsigned i = 0; i < 10; i++) {
		json_t *result = port(i % 2 ? "up" : "down");

		assert_non_null(result);
		json_decref(result);
	}
	others_are_served();
}

/* The condition of a rule: the file is taken not to be there. */
static void test_while_file(void **state)
{
	struct ctl_failure f;
	json_t *result = NULL;
	char rule[160];

	(void)state;
	need_deaf_fs();
	snprintf(rule, sizeof(rule), "gid.change every=1ms while_file=%s/x/y", deaf);
	assert_int_equal(ctl_exchange(d.dir,
				      json_pack("{s:s, s:s, s:s}", "cmd", "fault", "action", "add",
						"text", rule),
				      &result, &f),
			 0);
	json_decref(result);
	others_are_served();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_never_answers),   TEST(test_start_is_taken_back), TEST(test_too_many),
		TEST(test_stops_to_answer), TEST(test_own_directory),       TEST(test_while_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
