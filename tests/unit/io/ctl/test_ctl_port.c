/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders from uhcactl that befall a device: what its clients hear, what the files say. */
#include "emu/abi/ctl.h"
#include "emu/abi/event.h"
#include "emu/io/ctl/ctl_request.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct io_test_daemon t;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_end(&t);
	return 0;
}

static void expect(const char *request, const char *reply)
{
	char *line = io_ctl_request(&t.d.ctl.services, request, strlen(request));

	assert_non_null(line);
	assert_string_equal(line, reply);
	free(line);
}

static void expect_begin(const char *request, const char *reply)
{
	char *line = io_ctl_request(&t.d.ctl.services, request, strlen(request));

	assert_non_null(line);
	if (strncmp(line, reply, strlen(reply)) != 0)
		fail_msg("%s", line);
	free(line);
}

static void expect_file(const char *name, const char *line)
{
	char path[200];
	char text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca1/ports/1/%s", t.dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, line);
}

static void expect_event(struct io_test_client *c, uint32_t type)
{
	struct uhca_abi_async_event event;

	io_test_loop_pass(t.d.loop);
	assert_int_equal(recv(c->async, &event, sizeof(event), MSG_DONTWAIT), sizeof(event));
	assert_int_equal(event.type, type);
	assert_int_equal(event.element, 1);
}

static void expect_no_event(struct io_test_client *c)
{
	uint8_t byte;

	io_test_loop_pass(t.d.loop);
	assert_true(recv(c->async, &byte, 1, MSG_DONTWAIT) < 0);
}

static void test_link(void **state)
{
	struct io_test_client here, there;

	(void)state;
	io_test_hello(&here, &t.d, "uhca1");
	io_test_hello(&there, &t.d, "uhca0");
	expect("{\"cmd\":\"port\",\"device\":\"uhca1\",\"action\":\"down\"}",
	       "{\"ok\":true,\"result\":{\"device\":\"uhca1\",\"up\":false}}\n");
	expect_event(&here, UHCA_ABI_EVENT_PORT_ERR);
	expect_file("state", "1: DOWN\n");
	expect_file("phys_state", "3: Disabled\n");
	expect("{\"cmd\":\"port\",\"device\":\"uhca1\",\"action\":\"up\"}",
	       "{\"ok\":true,\"result\":{\"device\":\"uhca1\",\"up\":true}}\n");
	expect_event(&here, UHCA_ABI_EVENT_PORT_ACTIVE);
	expect_file("state", "4: ACTIVE\n");
	expect_file("phys_state", "5: LinkUp\n");
	expect_no_event(&there);
	io_test_disconnect(&here);
	io_test_disconnect(&there);
}

/* Where its files cannot be changed a port stays as it is, and who asked is told why. */
static void test_no_files(void **state)
{
	char file[200], away[200];

	(void)state;
	snprintf(file, sizeof(file), "%s/sys/class/infiniband/uhca1/ports/1/state", t.dir);
	snprintf(away, sizeof(away), "%s/away", t.dir);
	assert_int_equal(rename(file, away), 0);
	assert_int_equal(mkdir(file, 0700), 0);
	expect("{\"cmd\":\"port\",\"device\":\"uhca1\",\"action\":\"down\"}",
	       "{\"ok\":false,\"error\":\"the port's sysfs files: Is a directory\"}\n");
	assert_int_equal(rmdir(file), 0);
	assert_int_equal(rename(away, file), 0);
	expect_file("state", "4: ACTIVE\n");
}

static void test_fatal(void **state)
{
	struct io_test_client here, there;
	uint8_t byte;

	(void)state;
	io_test_hello(&here, &t.d, "uhca1");
	io_test_hello(&there, &t.d, "uhca0");
	expect("{\"cmd\":\"device\",\"device\":\"uhca1\",\"action\":\"fatal\"}",
	       "{\"ok\":true,\"result\":{\"device\":\"uhca1\",\"clients\":1}}\n");
	assert_int_equal(recv(here.sock, &byte, 1, MSG_DONTWAIT), 0); /* disconnected */
	assert_true(recv(there.sock, &byte, 1, MSG_DONTWAIT) < 0);
	io_test_disconnect(&here);
	io_test_hello(&here, &t.d, "uhca1");
	io_test_disconnect(&here);
	io_test_disconnect(&there);
}

static void test_event(void **state)
{
	struct io_test_client c;

	(void)state;
	io_test_hello(&c, &t.d, "uhca0");
	expect("{\"cmd\":\"event\",\"device\":\"uhca0\",\"name\":\"SM_CHANGE\"}",
	       "{\"ok\":true,\"result\":{\"device\":\"uhca0\"}}\n");
	expect_event(&c, UHCA_ABI_EVENT_SM_CHANGE);
	io_test_disconnect(&c);
}

static void test_limit(void **state)
{
	(void)state;
	expect("{\"cmd\":\"limit\",\"device\":\"uhca1\",\"name\":\"max_pd\",\"value\":2}",
	       "{\"ok\":true,\"result\":{\"device\":\"uhca1\",\"name\":\"max_pd\",\"value\":2}}\n");
	expect_begin("{\"cmd\":\"limit\",\"device\":\"uhca1\",\"name\":\"max_pdd\",\"value\":2}",
		     "{\"ok\":false,\"error\":\"unknown limit 'max_pdd': did you mean "
		     "'max_pd'? Known: max_");
	expect("{\"cmd\":\"limit\",\"device\":\"uhca1\",\"name\":\"max_pd\",\"value\":0}",
	       "{\"ok\":false,\"error\":\"max_pd=0 is not in the range 1 to 1048576\"}\n");
	expect("{\"cmd\":\"limit\",\"device\":\"uhca1\",\"name\":\"max_pd\"}",
	       "{\"ok\":false,\"error\":\"limit needs \\\"name\\\" and a number "
	       "\\\"value\\\"\"}\n");
}

static void test_refusals(void **state)
{
	(void)state;
	expect("{\"cmd\":\"port\",\"action\":\"up\"}",
	       "{\"ok\":false,\"error\":\"the device is missing: name one of 2 devices\"}\n");
	expect("{\"cmd\":\"port\",\"device\":\"uhca\",\"action\":\"up\"}",
	       "{\"ok\":false,\"error\":\"unknown device 'uhca': did you mean 'uhca0'? "
	       "Known: uhca0, uhca1\"}\n");
	expect("{\"cmd\":\"port\",\"device\":\"uhca0\",\"action\":\"sideways\"}",
	       "{\"ok\":false,\"error\":\"unknown port action 'sideways'; known: up, "
	       "down\"}\n");
	expect("{\"cmd\":\"device\",\"device\":\"uhca0\"}",
	       "{\"ok\":false,\"error\":\"device needs \\\"action\\\": fatal\"}\n");
	expect_begin("{\"cmd\":\"event\",\"device\":\"uhca0\",\"name\":\"FROG\"}",
		     "{\"ok\":false,\"error\":\"unknown event 'FROG'; known: CQ_ERR, ");
	expect("{\"cmd\":\"event\",\"device\":\"uhca0\",\"name\":\"QP_FATAL\"}",
	       "{\"ok\":false,\"error\":\"QP_FATAL belongs to a QP, CQ, SRQ or WQ: give qp=, cq=, "
	       "srq= or wq=\"}\n");
	expect_begin("{\"cmd\":\"event\",\"device\":\"uhca0\",\"name\":\"QP_FATALITY\"}",
		     "{\"ok\":false,\"error\":\"unknown event 'QP_FATALITY': did you mean "
		     "'QP_FATAL'? Known: ");
	expect("{\"cmd\":\"event\",\"device\":\"uhca0\",\"name\":\"QP_FATAL\",\"of\":\"qp=5\"}",
	       "{\"ok\":false,\"error\":\"QP_FATAL: uhca0 has no such object as qp=5\"}\n");
	expect("{\"cmd\":\"event\",\"device\":\"uhca0\",\"name\":\"LID_CHANGE\",\"of\":\"qp=5\"}",
	       "{\"ok\":false,\"error\":\"LID_CHANGE is an event of the whole device: leave out "
	       "qp=5\"}\n");
	expect("{\"cmd\":\"event\",\"device\":\"uhca0\",\"name\":\"QP_FATAL\",\"of\":\"qp=x\"}",
	       "{\"ok\":false,\"error\":\"'qp=x' is not qp=NUMBER, cq=HANDLE, srq=HANDLE or "
	       "wq=HANDLE\"}\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_link),  TEST(test_no_files), TEST(test_fatal),
		TEST(test_event), TEST(test_limit),    TEST(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
