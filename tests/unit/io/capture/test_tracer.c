/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A daemon that tells of itself: what the cores are asked for, how counters move, rules that come
 * and go, and files that failures leave behind.
 */
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "tests/support/io/io_user.h"
#include "tests/support/io/ng_file.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/cqe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	struct io_test_daemon t;
	char dir[64];
	char path[96];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct io_settings s;

	assert_non_null(f);
	io_log_echo_errors(false);
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_dir(f->dir);
	snprintf(f->path, sizeof(f->path), "%s/x", f->dir);
	io_test_settings(&s, 2);
	snprintf(s.on_error, sizeof(s.on_error), "%s/error", f->dir);
	io_test_daemon_start(&f->t, &s);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_test_daemon_stop(&f->t);
	io_test_remove_dir(f->dir);
	free(f);
	io_log_close();
	return 0;
}

static int start(struct fixture *f, int only)
{
	const struct io_capture_wish wish = {.path = f->path, .only = only, .snap = IO_CAPTURE_ALL};

	return io_tracer_start(&f->t.d.tracer, &wish);
}

/* Completions that succeed are told of only while a capture runs. */
static void test_hooks(void **state)
{
	struct fixture *f = *state;
	const struct io_device *dev = &f->t.d.ports[0].dev;
	const uint32_t all = 1u << CORE_TRACE_CQE;

	assert_true(dev->hooks & CORE_HOOK_ERRORS);
	assert_true(dev->hooks & 1u << CORE_TRACE_QP_STATE);
	assert_false(dev->hooks & (all | 1u << CORE_TRACE_TX | 1u << CORE_TRACE_RX));
	assert_int_equal(start(f, -1), 0);
	assert_true(dev->hooks & all);
	assert_int_equal(start(f, -1), -EBUSY);
	assert_int_equal(io_tracer_stop(&f->t.d.tracer), 0);
	assert_false(dev->hooks & all);
	assert_int_equal(start(f, 1), 0); /* the other one */
	assert_false(dev->hooks & all);
	assert_true(f->t.d.ports[1].dev.hooks & all);
}

/*
 * A capture that ends by itself leaves nothing behind; who asks for its end is told why it ended.
 */
static void test_full(void **state)
{
	struct fixture *f = *state;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(full >= 0);
	assert_int_equal(start(f, -1), 0);
	assert_true(dup2(full, f->t.d.capture.file.fd) >= 0);
	close(full);
	core_port_set(f->t.d.ports[1].dev.core, false);
	assert_true(io_tracer_awake(&f->t.d.tracer));
	io_capture_flush(&f->t.d.capture);
	assert_false(io_capture_running(&f->t.d.capture));
	io_tracer_tick(&f->t.d.tracer, 1000 * IO_SEC);
	assert_false(io_tracer_awake(&f->t.d.tracer));
	assert_false(f->t.d.ports[0].dev.hooks & 1u << CORE_TRACE_CQE);
	assert_int_equal(io_capture_error(&f->t.d.capture), -ENOSPC);
	assert_int_equal(io_tracer_stop(&f->t.d.tracer), -ENOSPC);
}

static void test_counters(void **state)
{
	struct fixture *f = *state;
	struct ng_file file;

	assert_int_equal(start(f, -1), 0);
	core_port_set(f->t.d.ports[1].dev.core, false);
	io_tracer_tick(&f->t.d.tracer, 1000 * IO_SEC);
	io_tracer_tick(&f->t.d.tracer, 1001 * IO_SEC); /* nothing has moved */
	core_port_set(f->t.d.ports[1].dev.core, true);
	core_port_set(f->t.d.ports[1].dev.core, false);
	io_tracer_tick(&f->t.d.tracer, 1001 * IO_SEC + 1); /* too early */
	assert_int_equal(io_tracer_stop(&f->t.d.tracer), 0);
	ng_load(&file, f->path);
	assert_non_null(ng_find(&file, NG_RECORD, "counters dev=uhca1 link_downed=1"));
	assert_non_null(ng_find(&file, NG_RECORD, "counters dev=uhca1 link_downed=2"));
	assert_non_null(ng_find(&file, NG_RECORD, "event dev=uhca1 type=PORT_ACTIVE"));
	assert_int_equal(ng_count(&file, NG_RECORD), 5);
	ng_free(&file);
}

/* A capture of one device holds what that one tells, and nothing of others. */
static void test_one_device(void **state)
{
	struct fixture *f = *state;
	struct ng_file file;

	assert_int_equal(start(f, 1), 0);
	core_port_set(f->t.d.ports[0].dev.core, false);
	core_port_set(f->t.d.ports[1].dev.core, false);
	f->t.d.faults.env.fatal(&f->t.d, &f->t.d.ports[0].dev);
	f->t.d.faults.env.fatal(&f->t.d, &f->t.d.ports[1].dev);
	assert_int_equal(io_tracer_stop(&f->t.d.tracer), 0);
	ng_load(&file, f->path);
	assert_non_null(ng_find(&file, NG_RECORD, "event dev=uhca1 type=PORT_ERR"));
	assert_non_null(ng_find(&file, NG_RECORD, "event dev=uhca1 type=DEVICE_FATAL clients=0"));
	assert_null(ng_find(&file, NG_RECORD, "dev=uhca0"));
	ng_free(&file);
}

static void test_rules(void **state)
{
	struct fixture *f = *state;
	struct io_daemon *d = &f->t.d;
	struct fault_error error;
	struct ng_file file;
	int number;

	number = fault_plan_add(d->faults.plan, "x: drop opcode=rc.ack", 1, &error);
	assert_int_equal(number, 1);
	io_faults_changed(&d->faults);
	assert_int_equal(start(f, -1), 0);
	io_faults_changed(&d->faults); /* nothing new */
	assert_int_equal(fault_plan_change(d->faults.plan, 1, "drop nth=3", 2, &error), 0);
	io_faults_changed(&d->faults);
	assert_int_equal(fault_plan_remove(d->faults.plan, 1), 0);
	io_faults_changed(&d->faults);
	assert_int_equal(io_tracer_stop(&d->tracer), 0);
	ng_load(&file, f->path);
	assert_int_equal(ng_count(&file, NG_RECORD), 3);
	assert_string_equal(ng_get(&file, NG_RECORD, 0)->text,
			    "rule number=1 name=x text=\"x: drop opcode=rc.ack\" what=added");
	assert_string_equal(ng_get(&file, NG_RECORD, 1)->text,
			    "rule number=1 text=\"drop nth=3\" what=changed");
	assert_string_equal(ng_get(&file, NG_RECORD, 2)->text, "rule number=1 what=removed");
	ng_free(&file);
}

/* Packets in a file of whose fate this is told. */
static unsigned packets_of(const char *path, const char *words)
{
	struct ng_file file;
	unsigned n = 0;

	ng_load(&file, path);
	for (unsigned i = 0; i < ng_count(&file, NG_PACKET); i++)
		n += strstr(ng_get(&file, NG_PACKET, i)->text, words) != NULL;
	ng_free(&file);
	return n;
}

/* What rules do to packets stands in the capture, and alike in the flight recorder. */
static void test_what_rules_do(void **state)
{
	static const struct {
		const char *rule, *words;
		unsigned n; /* packets of which it is told, at both ends */
	} rows[] = {
		{"drop dir=tx", "dropped=rule", 1},
		{"drop dir=rx", "dropped=rule", 1},
		{"corrupt=icrc dir=tx", "dropped=bad_icrc", 1},
		{"dup dir=tx", "rule=", 4},
		{"ecn dir=tx", "rule=", 2},
	};
	struct fixture *f = *state;
	static struct io_user u[2];
	struct io_user_qp q[2];
	struct io_recorder_dump done;
	struct fault_error error;
	char other[100];
	uint32_t ah;

	for (unsigned i = 0; i < 2; i++) {
		io_user_open(&u[i], &f->t.d, i ? "uhca1" : "uhca0");
		io_user_qp_create(&q[i], &u[i], IBV_QPT_UD);
		io_user_qp_connect(&q[i], NULL, 0);
	}
	ah = io_user_ah(&u[0], u[1].dev->id.addresses.a[0].gid);
	snprintf(other, sizeof(other), "%s/y", f->dir);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int number = io_faults_add(&f->t.d.faults, rows[i].rule, 1, &error);
		unsigned before;

		assert_true(number > 0);
		io_faults_changed(&f->t.d.faults);
		assert_int_equal(
			io_recorder_dump(&f->t.d.tracer.recorder, &f->t.d.capture, other, &done),
			0);
		before = packets_of(other, rows[i].words);
		assert_int_equal(start(f, -1), 0);
		io_user_recv(&q[1], 1, 8192, 4096);
		io_user_recv(&q[1], 1, 8192, 4096);
		io_user_send(&q[0],
			     (struct uhca_abi_send_wqe){.opcode = UHCA_ABI_WR_SEND,
							.ud = {.ah = ah, .remote_qpn = q[1].qpn}},
			     100);
		io_user_ring(&q[0]);
		for (unsigned k = 0; k < 3; k++)
			io_user_loop_pass(&f->t.d);
		assert_int_equal(io_tracer_stop(&f->t.d.tracer), 0);
		assert_int_equal(
			io_recorder_dump(&f->t.d.tracer.recorder, &f->t.d.capture, other, &done),
			0);
		if (packets_of(f->path, rows[i].words) != rows[i].n ||
		    packets_of(other, rows[i].words) != before + rows[i].n)
			fail_msg("%s: %u packets in the capture, %u in the recorder", rows[i].rule,
				 packets_of(f->path, rows[i].words),
				 packets_of(other, rows[i].words) - before);
		assert_int_equal(io_faults_remove(&f->t.d.faults, (uint32_t)number, 2), 0);
		io_faults_changed(&f->t.d.faults);
	}
	for (unsigned i = 0; i < 2; i++)
		io_user_close(&u[i]);
}

/* A key that a request brings is told when it opens something first, in each capture. */
static void test_keys(void **state)
{
	struct fixture *f = *state;
	static struct io_user u[2];
	struct io_user_qp q[2];
	struct uhca_abi_send_wqe e = {.opcode = UHCA_ABI_WR_RDMA_WRITE};
	struct ng_file file;
	char words[200];

	for (unsigned i = 0; i < 2; i++) {
		io_user_open(&u[i], &f->t.d, i ? "uhca1" : "uhca0");
		io_user_qp_create(&q[i], &u[i], IBV_QPT_RC);
	}
	for (unsigned i = 0; i < 2; i++)
		io_user_qp_connect(&q[i], u[1 - i].dev, q[1 - i].qpn);
	e.rdma.remote_addr = (uintptr_t)u[1].memory;
	e.rdma.rkey = u[1].rkey;
	snprintf(words, sizeof(words), "region dev=uhca1 qp=0x%x key=0x%x address=0x%llx length=%u",
		 q[1].qpn, u[1].rkey, (unsigned long long)e.rdma.remote_addr, IO_USER_MEMORY);
	for (unsigned round = 0; round < 3; round++) {
		unsigned n = 0;

		assert_int_equal(start(f, -1), 0);
		for (unsigned i = 0; i < 3; i++)
			io_user_send(&q[0], e, round ? 100 : 0); /* of no bytes: it opens nothing */
		io_user_ring(&q[0]);
		for (unsigned k = 0; k < 3; k++)
			io_user_loop_pass(&f->t.d);
		assert_int_equal(io_tracer_stop(&f->t.d.tracer), 0);
		ng_load(&file, f->path);
		for (unsigned i = 0; i < ng_count(&file, NG_RECORD); i++)
			n += strstr(ng_get(&file, NG_RECORD, i)->text, words) != NULL;
		assert_int_equal(n, round > 0);
		ng_free(&file);
	}
	for (unsigned i = 0; i < 2; i++)
		io_user_close(&u[i]);
}

/* What a program did not destroy, of each kind that it had, and not what another one has. */
static void test_leaks(void **state)
{
	struct fixture *f = *state;
	static struct io_user tidy, u, other;
	struct io_user_qp q, theirs;
	struct ng_file file;
	unsigned n = 0;

	io_user_open(&other, &f->t.d, "uhca0");
	io_user_qp_create(&theirs, &other, IBV_QPT_RC);
	assert_int_equal(start(f, -1), 0);
	io_test_hello(&tidy.c, &f->t.d, "uhca0");
	io_test_disconnect(&tidy.c); /* had nothing */
	io_user_open(&u, &f->t.d, "uhca0");
	io_user_qp_create(&q, &u, IBV_QPT_RC);
	io_user_close(&u);
	assert_int_equal(io_tracer_stop(&f->t.d.tracer), 0);
	io_user_close(&other);
	ng_load(&file, f->path);
	for (unsigned i = 0; i < ng_count(&file, NG_RECORD); i++)
		n += strncmp(ng_get(&file, NG_RECORD, i)->text, "leak ", 5) == 0;
	assert_int_equal(n, 1);
	assert_non_null(
		ng_find(&file, NG_RECORD, "leak dev=uhca0 program=test pd=1 mr=1 cq=1 qp=1"));
	ng_free(&file);
}

/* Of several rules those are told that are new, or gone. */
static void test_some_rules(void **state)
{
	struct fixture *f = *state;
	struct io_daemon *d = &f->t.d;
	struct fault_error error;
	struct ng_file file;

	assert_int_equal(start(f, -1), 0);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(fault_plan_add(d->faults.plan, "drop nth=9", i, &error), i);
		io_faults_changed(&d->faults);
	}
	assert_int_equal(fault_plan_remove(d->faults.plan, 2), 0);
	io_faults_changed(&d->faults);
	assert_int_equal(fault_plan_change(d->faults.plan, 3, "drop nth=8", 5, &error), 0);
	io_faults_changed(&d->faults);
	assert_int_equal(io_tracer_stop(&d->tracer), 0);
	ng_load(&file, f->path);
	assert_int_equal(ng_count(&file, NG_RECORD), 5);
	for (unsigned i = 0; i < 3; i++)
		assert_non_null(strstr(ng_get(&file, NG_RECORD, i)->text, "what=added"));
	assert_string_equal(ng_get(&file, NG_RECORD, 3)->text, "rule number=2 what=removed");
	assert_string_equal(ng_get(&file, NG_RECORD, 4)->text,
			    "rule number=3 text=\"drop nth=8\" what=changed");
	ng_free(&file);
}

static bool is_there(const struct fixture *f, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return access(path, F_OK) == 0;
}

static void complete(struct fixture *f, uint32_t status)
{
	const struct core_trace t = {
		.point = CORE_TRACE_CQE, .qpn = 0x11, .a = status, .wr_id = 0x2a};

	io_pcap_trace(&f->t.d.ports[0].pcap, &t);
}

static void change_state(struct fixture *f, uint32_t to)
{
	const struct core_trace t = {.point = CORE_TRACE_QP_STATE, .qpn = 0x11, .a = 3, .b = to};

	io_pcap_trace(&f->t.d.ports[0].pcap, &t);
}

/* What is a failure and what is not. */
static void test_failures(void **state)
{
	struct fixture *f = *state;
	bool *failed = &f->t.d.tracer.recorder.failed;

	complete(f, UHCA_ABI_WC_SUCCESS);
	complete(f, UHCA_ABI_WC_WR_FLUSH_ERR);
	change_state(f, 4);
	f->t.d.ports[0].pcap.ordered = "program";
	change_state(f, 6);
	f->t.d.ports[0].pcap.ordered = NULL;
	assert_false(*failed);
	change_state(f, 6);
	assert_true(*failed);
	*failed = false;
	complete(f, UHCA_ABI_WC_RETRY_EXC_ERR);
	assert_true(*failed);
}

static void test_files(void **state)
{
	struct fixture *f = *state;
	struct ng_file file;
	char path[128];

	f->t.d.tracer.tasks = NULL; /* at once */
	/* The responder fails first; the completion of the other end comes a little later. */
	change_state(f, 6);
	assert_true(io_tracer_awake(&f->t.d.tracer));
	io_tracer_tick(&f->t.d.tracer, 999 * IO_SEC);
	assert_false(is_there(f, "error"));
	complete(f, UHCA_ABI_WC_REM_ACCESS_ERR);
	assert_int_equal(io_tracer_deadline(&f->t.d.tracer), 999 * IO_SEC + 50 * IO_MSEC);
	io_tracer_tick(&f->t.d.tracer, 1000 * IO_SEC);
	assert_false(io_tracer_awake(&f->t.d.tracer));
	assert_true(is_there(f, "error"));
	snprintf(path, sizeof(path), "%s/error", f->dir);
	ng_load(&file, path);
	assert_non_null(ng_find(&file, NG_RECORD, "status=REM_ACCESS_ERR"));
	ng_free(&file);
	/* One in the same second waits; there is an end to it. */
	complete(f, UHCA_ABI_WC_RETRY_EXC_ERR);
	io_tracer_tick(&f->t.d.tracer, 1000 * IO_SEC + 1);
	assert_false(is_there(f, "error.2"));
	for (unsigned i = 1; i < 20; i++) {
		io_tracer_tick(&f->t.d.tracer, (1000 + 2 * i) * IO_SEC);
		complete(f, UHCA_ABI_WC_RETRY_EXC_ERR);
	}
	assert_true(is_there(f, "error.2"));
	assert_true(is_there(f, "error.8"));
	assert_false(is_there(f, "error.9"));
}

/* What has failed when the daemon ends is written, however short ago that was. */
static void test_end(void **state)
{
	struct fixture *f = *state;

	f->t.d.tracer.tasks = NULL;
	io_tracer_hurry(&f->t.d.tracer);
	assert_false(is_there(f, "error"));
	complete(f, UHCA_ABI_WC_REM_ACCESS_ERR);
	io_tracer_tick(&f->t.d.tracer, 1000 * IO_SEC);
	assert_false(is_there(f, "error"));
	io_tracer_hurry(&f->t.d.tracer);
	assert_true(is_there(f, "error"));
	assert_false(io_tracer_awake(&f->t.d.tracer));
}

/* Nowhere to write it: the daemon goes on. */
static void test_no_file(void **state)
{
	struct fixture *f = *state;

	strcpy(f->t.d.settings.on_error, "/nonexistent/x");
	complete(f, UHCA_ABI_WC_RETRY_EXC_ERR);
	io_tracer_tick(&f->t.d.tracer, 1000 * IO_SEC);
	f->t.d.settings.on_error[0] = '\0';
	complete(f, UHCA_ABI_WC_RETRY_EXC_ERR);
	io_tracer_tick(&f->t.d.tracer, 2000 * IO_SEC);
	assert_false(f->t.d.tracer.recorder.failed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_hooks), TEST(test_one_device),    TEST(test_counters),
		TEST(test_rules), TEST(test_some_rules),    TEST(test_leaks),
		TEST(test_keys),  TEST(test_what_rules_do), TEST(test_failures),
		TEST(test_files), TEST(test_no_file),       TEST(test_full),
		TEST(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
