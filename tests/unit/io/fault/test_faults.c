/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's fault rules: from the settings, who is asked while which rules are there, what the
 * clock sets off, device_actions that wait, files of rules, a trace that does it again.
 */
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/fault/fault_file.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct io_test_daemon t;
static struct io_faults *f = &t.d.faults;

/* ld --wrap: how read(2) fails, and after how many calls that do not; 0: not. */
static int read_error;
static unsigned read_works;

ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __wrap_read(int fd, void *to, size_t n);
ssize_t __wrap_read(int fd, void *to, size_t n)
{
	if (!read_error)
		return __real_read(fd, to, n);
	if (read_works > 0) {
		read_works--;
		return __real_read(fd, to, n > 4 ? 4 : n);
	}
	errno = read_error;
	if (read_error == EINTR)
		read_works = 1;
	return -1;
}

static int setup(void **state)
{
	struct io_settings s;

	(void)state;
	io_log_echo_errors(false);
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, 2);
	s.has_fault_seed = true;
	s.fault_seed = 42;
	io_test_daemon_start(&t, &s);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_stop(&t);
	io_log_close();
	return 0;
}

static uint32_t add_at(const char *text, uint64_t now)
{
	struct fault_error error;
	int number = io_faults_add(f, text, now, &error);

	if (number <= 0)
		fail_msg("column %u: %s", error.column, error.text);
	io_faults_changed(&t.d.faults);
	return (uint32_t)number;
}

static void write_file(const char *name, const char *text, char path[100])
{
	FILE *file;

	snprintf(path, 100, "%s/%s", t.dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static bool port_is_up(unsigned i)
{
	char path[200];
	char text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca%u/ports/1/state", t.dir, i);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return strstr(text, "ACTIVE") != NULL;
}

/* ---- from the settings ---- */

static int start_with(const char *text, bool is_file)
{
	struct io_instance instance;
	struct io_settings s;
	char dir[64];
	struct io_daemon *d = calloc(1, sizeof(*d));
	int error;

	assert_non_null(d);
	io_test_settings(&s, 1);
	s.addresses[0].a[0] = io_test_address(9);
	s.faults[s.n_faults].text = text;
	s.faults[s.n_faults++].is_file = is_file;
	io_test_dir(dir);
	assert_int_equal(io_instance_open(&instance, dir, false), 0);
	error = io_daemon_create(d, &s, &instance);
	if (error == 0) {
		assert_int_equal(fault_plan_count(d->faults.plan), 1);
		io_daemon_destroy(d);
	}
	io_test_remove_dir(dir);
	free(d);
	return error;
}

/* The fixture's own daemon makes room: there can be one in a process. */
static void test_settings(void **state)
{
	char file[64] = "/tmp/uhca-rules-XXXXXX";
	int fd;

	assert_int_equal(fault_plan_seed(f->plan), 42);
	teardown(state);
	fd = mkstemp(file);
	assert_true(fd >= 0);
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	assert_int_equal(start_with("drop nth=1", false), 0);
	assert_int_equal(start_with("drop nht=1", false), -EINVAL);
	assert_int_equal(dprintf(fd, "# one\n\ndrop nth=1\n"), 18);
	assert_int_equal(start_with(file, true), 0);
	assert_int_equal(dprintf(fd, "drop nth=\n"), 10);
	assert_int_equal(start_with(file, true), -EINVAL);
	close(fd);
	unlink(file);
	assert_int_equal(start_with(file, true), -EINVAL);
	io_log_close();
	setup(state);
}

/* ---- who is asked ---- */

static void test_watch(void **state)
{
	static const struct {
		enum fault_layer layer;
		const char *text;
	} rules[] = {
		{FAULT_LAYER_PACKET, "drop opcode=send"},
		{FAULT_LAYER_CALL, "call.fail=ENOMEM call=create_qp"},
		{FAULT_LAYER_COMPLETION, "cqe.withhold wc=SUCCESS"},
		{FAULT_LAYER_MEMORY, "mem.fail nth=1"},
		{FAULT_LAYER_TIME, "port.down after=3600s"},
	};

	(void)state;
	assert_int_equal(f->watched, 0);
	assert_false(f->armed);
	assert_int_equal(io_faults_deadline(&t.d.faults), UINT64_MAX);
	/* Ports of a network: test_fault_network. */
	assert_int_equal(sizeof(rules) / sizeof(rules[0]), FAULT_LAYERS - 1);
	for (unsigned i = 0; i < FAULT_LAYERS - 1; i++) {
		uint32_t number = add_at(rules[i].text, 1);

		for (unsigned l = 0; l < FAULT_LAYERS; l++)
			assert_int_equal(io_faults_watch(f, l), l == rules[i].layer);
		assert_int_equal(t.d.ports[1].fault.active, rules[i].layer == FAULT_LAYER_PACKET);
		assert_int_equal(io_faults_remove(f, number, 1), 0);
		assert_int_equal(io_faults_remove(f, number, 1), -ENOENT);
		io_faults_changed(&t.d.faults);
		assert_int_equal(f->watched, 0);
		assert_false(f->armed);
	}
}

/* After its last hit nobody asks any more. */
static void test_exhausted(void **state)
{
	const struct fault_entry *hits[FAULT_HITS_MAX];
	struct fault_subject s;

	(void)state;
	add_at("call.fail=ENOMEM call=create_qp times=1", 1);
	io_fault_subject(&s, FAULT_LAYER_CALL, &t.d.ports[0].dev, NULL);
	s.call = "create_qp";
	assert_int_equal(io_faults_decide(&t.d.faults, &t.d.ports[0].dev, &s, 2, hits), 1);
	assert_int_equal(hits[0]->rule.value.number, ENOMEM);
	assert_true(io_faults_deadline(&t.d.faults) <= 2);
	io_faults_tick(&t.d.faults, 2);
	assert_false(io_faults_watch(f, FAULT_LAYER_CALL));
	assert_int_equal(io_faults_deadline(&t.d.faults), UINT64_MAX);
}

/* ---- the clock, device_actions ---- */

static void test_clock(void **state)
{
	(void)state;
	add_at("port.down=50ns after=100ns device=uhca1", 1000);
	assert_int_equal(io_faults_deadline(&t.d.faults), 1100);
	io_faults_tick(&t.d.faults, 1099);
	assert_true(port_is_up(0) && port_is_up(1));
	io_faults_tick(&t.d.faults, 1100);
	assert_true(port_is_up(0));
	assert_false(port_is_up(1));
	assert_int_equal(f->n_returns, 1);
	io_faults_tick(&t.d.faults, 1149);
	assert_false(port_is_up(1));
	assert_int_equal(io_faults_deadline(&t.d.faults), 1150);
	io_faults_tick(&t.d.faults, 1150);
	assert_true(port_is_up(1));
	assert_int_equal(io_faults_deadline(&t.d.faults), UINT64_MAX);
}

/* Without device= it is all of them. */
static void test_clock_everywhere(void **state)
{
	(void)state;
	add_at("port.down after=1ns", 1);
	io_faults_tick(&t.d.faults, 2);
	assert_false(port_is_up(0) || port_is_up(1));
}

/* The core is in the middle of a completion: what happens to its device waits. */
static void test_later(void **state)
{
	const struct fault_entry *hits[FAULT_HITS_MAX];
	struct fault_subject s;

	(void)state;
	add_at("port.down wc=SUCCESS nth=1", 1);
	io_fault_subject(&s, FAULT_LAYER_COMPLETION, &t.d.ports[0].dev, NULL);
	assert_int_equal(io_faults_decide(&t.d.faults, &t.d.ports[0].dev, &s, 2, hits), 0);
	assert_int_equal(f->n_pending, 1);
	assert_true(port_is_up(0));
	assert_true(io_faults_deadline(&t.d.faults) <= 2);
	io_faults_tick(&t.d.faults, 2);
	assert_false(port_is_up(0));
	assert_int_equal(f->n_pending, 0);
}

static void test_too_much_at_once(void **state)
{
	const struct fault_entry *hits[FAULT_HITS_MAX];
	struct fault_subject s;

	(void)state;
	add_at("gid.change wc=SUCCESS", 1);
	io_fault_subject(&s, FAULT_LAYER_COMPLETION, &t.d.ports[0].dev, NULL);
	for (unsigned i = 0; i < IO_FAULT_PENDING_MAX + 10; i++)
		io_faults_decide(&t.d.faults, &t.d.ports[0].dev, &s, 2, hits);
	assert_int_equal(f->n_pending, IO_FAULT_PENDING_MAX);
	io_faults_tick(&t.d.faults, 2);
	assert_int_equal(f->n_pending, 0);
}

/* The device fails: its client is gone, with what it had. */
static void test_fatal(void **state)
{
	struct io_test_client here, there;

	(void)state;
	io_test_hello(&here, &t.d, "uhca0");
	io_test_hello(&there, &t.d, "uhca1");
	assert_int_equal(t.d.clients.n, 2);
	add_at("dev.fatal after=1ns device=uhca0", 1);
	io_faults_tick(&t.d.faults, 2);
	assert_int_equal(t.d.clients.n, 1);
	assert_ptr_equal(t.d.clients.at[0]->dev, &t.d.ports[1].dev);
	io_test_disconnect(&here);
	io_test_disconnect(&there);
}

/* ---- files ---- */

static int add_lines(const char *text, struct io_fault_loaded *out)
{
	struct io_fault_rules all;
	int status = io_fault_parse(text, &all, out);

	return status < 0 ? status : io_fault_take(f, &all, 1, out);
}

static void refused(const char *text, unsigned line, unsigned column)
{
	struct io_fault_loaded out;

	assert_int_equal(add_lines(text, &out), -EINVAL);
	assert_int_equal(out.line, line);
	assert_int_equal(out.error.column, column);
	assert_int_equal(out.rules, 0);
	assert_int_equal(fault_plan_count(f->plan), 0);
}

static void test_lines(void **state)
{
	struct io_fault_loaded out;
	char path[100];
	size_t len;

	(void)state;
	refused("drp", 1, 1);
	refused("drop nth=1\n# drop\n\n  drop nth=0\ndrop", 4, 12);
	refused("a: drop\na: drop", 2, 1);
	assert_int_equal(add_lines("", &out), 0);
	assert_int_equal(out.rules, 0);
	assert_int_equal(add_lines("a: drop nth=1\n\t# b\nb: drop nth=2", &out), 0);
	assert_int_equal(out.rules, 2);
	assert_string_equal(fault_plan_entry(f->plan, 1)->rule.name, "b");
	io_faults_clear(f, 2);
	write_file("nul", "drop", path);
	assert_int_equal(truncate(path, 5), 0);
	assert_null(io_fault_read(path, &len, &out));
	assert_non_null(strstr(out.error.text, "not a text"));
	assert_int_equal(truncate(path, IO_FAULT_FILE_MAX + 1), 0);
	assert_null(io_fault_read(path, &len, &out));
	assert_non_null(strstr(out.error.text, "longer than"));
	assert_null(io_fault_read(t.dir, &len, &out));
	assert_non_null(strstr(out.error.text, "not a regular file"));
	assert_int_equal(io_fault_load(f, "/nonexistent", 1, &out), -EINVAL);
	assert_string_equal(out.error.text, "/nonexistent: No such file or directory");
}

/* A disk that cannot be read is said, a signal is not; a file may come in pieces. */
static void test_reading(void **state)
{
	struct io_fault_loaded out;
	char path[100], *text;
	size_t len;

	(void)state;
	write_file("rules", "drop nth=12\n", path);
	read_error = EINTR;
	text = io_fault_read(path, &len, &out);
	read_error = EIO;
	assert_non_null(text);
	assert_string_equal(text, "drop nth=12\n");
	assert_int_equal(len, 12);
	free(text);
	read_works = 1;
	text = io_fault_read(path, &len, &out);
	read_error = 0;
	assert_null(text);
	assert_non_null(strstr(out.error.text, "rules: Input/output error"));
}

/* Lines of the trace in which these words are. */
static unsigned told(const char *words)
{
	const struct io_fault_line *l;
	unsigned n = 0;

	for (uint64_t at = 0; (l = io_fault_trace_from(&f->trace, at)); at = l->number + 1)
		n += strstr(l->text, words) != NULL;
	return n;
}

/* Whatever comes, changes or goes is in the trace, once. */
static void test_traced(void **state)
{
	struct io_fault_loaded out;
	struct fault_error error;
	char path[100];

	(void)state;
	add_at("drop nth=11", 1);
	write_file("rules", "drop nth=12\n# no rule\ndrop nth=13\n", path);
	assert_int_equal(io_fault_load(f, path, 2, &out), 0);
	assert_int_equal(out.rules, 2);
	add_at("drop nth=14", 3);
	assert_int_equal(told("what=added"), 4);
	assert_int_equal(told("nth=11"), 1);
	assert_int_equal(told("nth=12"), 1);
	assert_int_equal(told("nth=13"), 1);
	assert_int_equal(io_faults_change(f, 2, "drop nth=15", 4, &error), 0);
	assert_int_equal(io_faults_change(f, 9, "drop nth=15", 4, &error), -ENOENT);
	assert_int_equal(io_faults_change(f, 2, "drop nth=", 4, &error), -EINVAL);
	assert_int_equal(told("what=changed"), 1);
	assert_int_equal(told("nth=15"), 1);
	assert_int_equal(io_faults_remove(f, 1, 5), 0);
	assert_int_equal(io_faults_remove(f, 1, 5), -ENOENT);
	assert_int_equal(told("what=removed"), 1);
}

/* Which of a hundred calls fail: chance decides once, the replay of its trace again. */
static unsigned decide_hundred(bool failed[100])
{
	const struct fault_entry *hits[FAULT_HITS_MAX];
	struct fault_subject s;
	unsigned n = 0;

	io_fault_subject(&s, FAULT_LAYER_CALL, &t.d.ports[0].dev, NULL);
	s.call = "reg_mr";
	for (unsigned i = 0; i < 100; i++) {
		failed[i] = io_faults_decide(&t.d.faults, &t.d.ports[0].dev, &s, 100 + i, hits) > 0;
		n += failed[i];
	}
	return n;
}

static int replay(const char *text, struct io_fault_loaded *out)
{
	struct io_fault_rules all;
	int error = io_fault_parse_trace("trace", text, strlen(text), &all, out);

	return error ? error : io_fault_take(f, &all, 0, out);
}

static void test_replay(void **state)
{
	bool first[100], again[100];
	struct io_fault_loaded out;
	const struct io_fault_line *l;
	char text[30000] = "";

	(void)state;
	add_at("call.fail=ENOMEM call=reg_mr p=0.2", 50);
	assert_in_range(decide_hundred(first), 1, 99);
	for (uint64_t at = 0; (l = io_fault_trace_from(&f->trace, at)); at = l->number + 1) {
		strcat(text, l->text);
		strcat(text, "\n");
	}
	io_faults_clear(f, 300);
	assert_int_equal(replay(text, &out), 0);
	assert_true(out.rules > 0);
	io_faults_changed(&t.d.faults);
	decide_hundred(again);
	assert_memory_equal(first, again, sizeof(first));
	io_faults_clear(f, 300);
	assert_int_equal(replay("plan time=0 seed=1\nrule number=x\n", &out), -EINVAL);
	assert_int_equal(out.line, 2);
	assert_int_equal(replay("plan time=0 seed=1\n", &out), -EINVAL);
	assert_int_equal(fault_plan_count(f->plan), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_settings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_watch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exhausted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_everywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_much_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fatal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_traced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reading, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replay, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
