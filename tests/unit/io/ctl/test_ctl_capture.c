/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures and dumps ordered by uhcactl: what it is answered, and what is refused. */
#include "emu/io/base/log.h"
#include "emu/io/ctl/ctl_request.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct io_test_daemon t;
static char dir[64];

static int setup(void **state)
{
	struct io_settings s;

	(void)state;
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_log_echo_errors(false);
	io_test_dir(dir);
	io_test_settings(&s, 2);
	io_test_daemon_start(&t, &s);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_stop(&t);
	io_test_remove_dir(dir);
	io_log_close();
	return 0;
}

/* The reply to {"cmd":"capture", ...}, in which what is behind part need not be known. */
static void expect(const char *order, const char *part)
{
	char request[300], *line;

	snprintf(request, sizeof(request), "{\"cmd\":\"capture\",%s}", order);
	line = io_ctl_request(&t.d.ctl.services, request, strlen(request));
	assert_non_null(line);
	if (!strstr(line, part))
		fail_msg("%s: %s", request, line);
	free(line);
}

static void expect_of_file(const char *order, const char *part)
{
	char whole[200];

	snprintf(whole, sizeof(whole), "%s,\"file\":\"%s/x\"", order, dir);
	expect(whole, part);
}

static void test_one_at_a_time(void **state)
{
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/x", dir);
	expect("\"action\":\"status\"", "\"ok\":true");
	expect("\"action\":\"stop\"", "no capture is running");
	expect_of_file("\"action\":\"start\",\"device\":\"uhca1\",\"snap\":64", "\"ok\":true");
	assert_true(io_capture_running(&t.d.capture));
	assert_string_equal(t.d.capture.path, path);
	assert_int_equal(t.d.capture.only, t.d.ports[1].pcap.interface);
	expect("\"action\":\"status\"", path);
	expect_of_file("\"action\":\"start\"", "is already running");
	expect("\"action\":\"stop\"", path);
	assert_false(io_capture_running(&t.d.capture));
	assert_int_equal(access(path, R_OK), 0);
}

static off_t size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

/*
 * A scenario asks, and judges by what the file has then; a busy daemon writes it out in its time.
 */
static void test_status_writes_out(void **state)
{
	char path[96];
	off_t before;

	(void)state;
	snprintf(path, sizeof(path), "%s/x", dir);
	expect_of_file("\"action\":\"start\"", "\"ok\":true");
	before = size_of(path);
	io_capture_record(&t.d.capture, 0, "call dev=uhca0 verb=reg_mr");
	assert_int_equal(size_of(path), before);
	expect("\"action\":\"status\"", "\"records\":1");
	assert_true(size_of(path) > before);
}

static void test_dump(void **state)
{
	(void)state;
	expect_of_file("\"action\":\"dump\"", "\"packets\":0");
	expect("\"action\":\"dump\"", "absolute file name");
	expect("\"action\":\"dump\",\"file\":\"x\"", "absolute file name");
	expect("\"action\":\"dump\",\"file\":\"/nonexistent/x\"", "No such file");
}

static void test_refusals(void **state)
{
	(void)state;
	expect("\"action\":\"start\"", "absolute file name");
	expect("\"action\":\"start\",\"file\":\"x\"", "absolute file name");
	expect("\"action\":\"start\",\"file\":\"/nonexistent/x\"", "No such file");
	expect_of_file("\"action\":\"start\",\"snap\":-1", "number of bytes");
	expect_of_file("\"action\":\"start\",\"snap\":65536", "number of bytes");
	expect_of_file("\"action\":\"start\",\"snap\":\"all\"", "number of bytes");
	expect_of_file("\"action\":\"start\",\"device\":\"uhca7\"", "unknown device 'uhca7'");
	expect("\"action\":\"pause\"", "start, stop, status or dump");
	expect("\"device\":\"uhca0\"", "start, stop, status or dump");
	assert_false(io_capture_running(&t.d.capture));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one_at_a_time),
		TEST(test_status_writes_out),
		TEST(test_dump),
		TEST(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
