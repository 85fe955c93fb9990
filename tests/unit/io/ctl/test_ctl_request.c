/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What uhcactl's requests do, and what each wrong one is told.
 */
#include "emu/abi/ctl.h"
#include "emu/io/ctl/ctl_request.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct io_test_daemon t;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_end(&t);
	return 0;
}

/* The reply as JSON; the caller drops it. */
static json_t *ask(const char *request)
{
	char *line = io_ctl_request(&t.d.ctl.services, request, strlen(request));
	json_error_t error;
	json_t *reply;

	assert_non_null(line);
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
	reply = json_loads(line, 0, &error);
	free(line);
	assert_non_null(reply);
	return reply;
}

static void refused(const char *request, const char *why)
{
	json_t *reply = ask(request);

	assert_true(json_is_false(json_object_get(reply, UHCA_CTL_OK)));
	assert_string_equal(json_string_value(json_object_get(reply, UHCA_CTL_ERROR)), why);
	json_decref(reply);
}

/* Asks, expects success, and returns the result; the caller drops it. */
static json_t *result_of(const char *request)
{
	json_t *reply = ask(request);
	json_t *result = json_incref(json_object_get(reply, UHCA_CTL_RESULT));

	assert_true(json_is_true(json_object_get(reply, UHCA_CTL_OK)));
	json_decref(reply);
	assert_non_null(result);
	return result;
}

/* What was logged before the request is written when it is answered. */
static void test_log(void **state)
{
	static const char request[] = "{\"cmd\":\"log\"}";
	struct io_services services = t.d.ctl.services;
	char path[] = "/tmp/test_ctl_request-XXXXXX";
	char line[256];
	FILE *log = fdopen(mkstemp(path), "r");

	(void)state;
	assert_non_null(log);
	services.tasks = NULL; /* at once */
	assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, path), 0);
	assert_int_equal(io_log_begin(), 0);
	for (unsigned i = 0; i < 50; i++) {
		char *reply;

		io_log(IO_LOG_INFO, "line %u", i);
		reply = io_ctl_request(&services, request, strlen(request));
		assert_non_null(strstr(reply, "true"));
		free(reply);
		snprintf(line, sizeof(line), "line %u\n", i);
		clearerr(log);
		assert_non_null(fgets(line, sizeof(line), log));
		assert_int_equal(strtoul(strstr(line, "line ") + 5, NULL, 10), i);
	}
	io_log_end(20000);
	io_log_close();
	fclose(log);
	unlink(path);
	refused("{\"cmd\":\"log\",\"file\":\"x\"}", "log takes no member 'file'");
}

static void test_refusals(void **state)
{
	(void)state;
	refused("", "not a line of JSON");
	refused("{\"cmd\":\"version\",\"cmd\":\"version\"}", "not a line of JSON");
	refused("{}", "a request must be an object with \"cmd\"");
	refused("[]", "a request must be an object with \"cmd\"");
	refused("{\"cmd\":7}", "a request must be an object with \"cmd\"");
	refused("{\"cmd\":\"dance\"}", "unknown command 'dance'");
	refused("{\"cmd\":\"version\",\"loud\":1}", "version takes no member 'loud'");
	refused("{\"cmd\":\"show\"}", "show needs \"what\"");
	refused("{\"cmd\":\"show\",\"what\":\"qps\"}",
		"unknown table 'qps': did you mean 'qp'? Known: pd, mr, cq, qp, srq, ah, mw, xrcd, "
		"dm, wq, rwq_ind_table, flow, comp_cntr, device, client, cm_id, machine, fabric");
	refused("{\"cmd\":\"walk\"}", "walk needs the numbers \"key\" and \"offset\"");
	refused("{\"cmd\":\"walk\",\"key\":5,\"offset\":\"x\"}",
		"walk needs the numbers \"key\" and \"offset\"");
	refused("{\"cmd\":\"walk\",\"key\":5,\"offset\":0}", "no device has a region with key 0x5");
	refused("{\"cmd\":\"walk\",\"key\":4294967301,\"offset\":0}",
		"no device has a region with key 0x100000005");
	refused("{\"cmd\":\"capture\"}", "capture needs \"action\": start, stop, status or dump");
	refused("{\"cmd\":\"capture\",\"action\":\"pause\"}",
		"capture needs \"action\": start, stop, status or dump");
	refused("{\"cmd\":\"capture\",\"action\":\"start\"}",
		"capture needs an absolute file name");
	refused("{\"cmd\":\"capture\",\"action\":\"start\",\"file\":\"x\"}",
		"capture needs an absolute file name");
	refused("{\"cmd\":\"capture\",\"action\":\"start\",\"file\":\"/dev/null\"}",
		"/dev/null is not a regular file");
	/* The thread that opens the file fails before the start is done, or later. */
	for (unsigned i = 0; i < 50; i++) {
		refused("{\"cmd\":\"capture\",\"action\":\"start\",\"file\":\"/nonexistent/x\"}",
			"/nonexistent/x: No such file or directory");
		refused("{\"cmd\":\"capture\",\"action\":\"stop\"}", "no capture is running");
	}
}

static void test_version(void **state)
{
	json_t *result = result_of("{\"cmd\":\"version\"}");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(result, UHCA_CTL_VERSION)),
			    UHCA_VERSION);
	assert_int_equal(json_integer_value(json_object_get(result, UHCA_CTL_PID)), getpid());
	json_decref(result);
}

static void expect_running(const char *request, bool running)
{
	json_t *result = result_of(request);

	assert_int_equal(json_is_true(json_object_get(result, UHCA_CTL_RUNNING)), running);
	json_decref(result);
}

static void test_capture(void **state)
{
	char start[200];
	char busy[200];
	char path[100];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/x.pcapng", t.dir);
	snprintf(start, sizeof(start), "{\"cmd\":\"capture\",\"action\":\"start\",\"file\":\"%s\"}",
		 path);
	snprintf(busy, sizeof(busy), "a capture to %s is already running", path);
	expect_running("{\"cmd\":\"capture\",\"action\":\"status\"}", false);
	expect_running(start, true);
	refused(start, busy);
	expect_running("{\"cmd\":\"capture\",\"action\":\"status\"}", true);
	expect_running("{\"cmd\":\"capture\",\"action\":\"stop\"}", false);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 0);
}

static void test_error_text(void **state)
{
	char *line = io_ctl_error("with \"quotes\" and \x01");

	(void)state;
	assert_string_equal(line, "{\"ok\":false,\"error\":\"with \\\"quotes\\\" and \\u0001\"}\n");
	free(line);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_log),     TEST(test_refusals),   TEST(test_version),
		TEST(test_capture), TEST(test_error_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
