/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters as files: there from the start, and following what was counted. */
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static unsigned long long read_file(const char *name)
{
	unsigned long long n;
	char path[200];
	char end;
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca0/ports/1/%s", t.dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llu%c", &n, &end), 2);
	assert_int_equal(end, '\n');
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
	return n;
}

static const char *const some[] = {
	"counters/port_xmit_data",
	"counters/port_rcv_data",
	"counters/port_xmit_packets",
	"counters/port_rcv_packets",
	"counters/port_rcv_errors",
	"counters/port_xmit_discards",
	"counters/link_downed",
	"hw_counters/sent_pkts",
	"hw_counters/rcvd_pkts",
	"hw_counters/duplicate_request",
	"hw_counters/completions",
	"hw_counters/bad_icrc",
	"hw_counters/local_ack_timeout_err",
};

static void test_zero_at_first(void **state)
{
	const mode_t mask = umask(022);
	char path[200];
	struct stat st;

	(void)state;
	umask(mask);
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		assert_int_equal(read_file(some[i]), 0);
		snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca0/ports/1/%s", t.dir,
			 some[i]);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0644 & ~mask); /* as in a real /sys */
	}
}

/* Packets that nobody wants are received ones, and dropped ones. */
static void receive(unsigned n)
{
	struct core_burst burst = {.count = 1, .length = 64};

	while (n--)
		core_rx(t.d.ports[0].dev.core, 0, &burst);
}

static void test_update(void **state)
{
	struct io_port *p = &t.d.ports[0];

	(void)state;
	receive(9);
	assert_int_equal(read_file("hw_counters/rcvd_pkts"), 0);
	assert_int_equal(io_counter_files_update(&p->counters), 0);
	assert_int_equal(read_file("hw_counters/rcvd_pkts"), 9);
	receive(1);
	core_port_set(p->dev.core, false);
	assert_int_equal(io_counter_files_update(&p->counters), 0);
	assert_int_equal(read_file("counters/port_rcv_packets"), 10);
	assert_int_equal(read_file("counters/port_rcv_data"), 160);
	assert_int_equal(read_file("hw_counters/dropped_pkts"), 10);
	assert_int_equal(read_file("counters/link_downed"), 1);
	p->loopback.no_route = 3; /* what finds no way is not sent */
	assert_int_equal(io_counter_files_update(&p->counters), 0);
	assert_int_equal(read_file("counters/port_xmit_discards"), 3);
}

/* A file whose number is what it was is left alone. */
static void test_unchanged(void **state)
{
	struct io_port *p = &t.d.ports[0];
	char path[200];
	FILE *f;

	(void)state;
	receive(9);
	assert_int_equal(io_counter_files_update(&p->counters), 0);
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca0/ports/1/hw_counters/rcvd_pkts",
		 t.dir);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_true(fputs("7", f) >= 0);
	fclose(f);
	assert_int_equal(io_counter_files_update(&p->counters), 0);
	assert_int_equal(read_file("hw_counters/rcvd_pkts"), 7);
	receive(1);
	assert_int_equal(io_counter_files_update(&p->counters), 0);
	assert_int_equal(read_file("hw_counters/rcvd_pkts"), 10);
}

static bool arrived(void *arg)
{
	(void)arg;
	return read_file("hw_counters/rcvd_pkts") == 3;
}

/* The timer writes once and does not run on. */
static void test_timer(void **state)
{
	(void)state;
	assert_false(ev_is_active(&t.d.counters));
	receive(3);
	io_counter_timer_touch(t.d.loop, &t.d.counters);
	assert_true(ev_is_active(&t.d.counters));
	assert_true(io_test_run(t.d.loop, arrived, NULL));
	assert_false(ev_is_active(&t.d.counters));
}

/* What there is now may become less: of the longer number nothing is left. */
static void test_smaller(void **state)
{
	struct io_counter_values v;
	unsigned n;

	(void)state;
	io_counter_files_collect(&t.d.ports[0].counters, &v);
	io_counter_table(v.names, &n);
	v.value[n - 1] = 1234;
	io_counter_values_write(&v);
	v.value[n - 1] = 9;
	io_counter_values_write(&v);
	assert_int_equal(v.error, 0);
	assert_int_equal(read_file(io_counter_table(v.names, &n)[n - 1].name), 9);
}

static bool has(enum io_counter_names names, const char *name)
{
	unsigned n, found = 0;
	const struct io_counter *table = io_counter_table(names, &n);

	assert_true(n <= IO_COUNTER_FILES);
	for (unsigned i = 0; i < n; i++)
		found += strcmp(table[i].name, name) == 0;
	assert_true(found <= 1);
	return found;
}

static unsigned profile(const char *name)
{
	unsigned i = 0;

	while (strcmp(core_profile_name(i), name) != 0)
		i++;
	return i;
}

/* The driver that a machine names decides, else the profile. */
static void test_names(void **state)
{
	(void)state;
	assert_int_equal(io_counter_names_for("", profile("default")), IO_COUNTERS_OWN);
	assert_int_equal(io_counter_names_for("", profile("cx7")), IO_COUNTERS_MLX5);
	assert_int_equal(io_counter_names_for("", profile("bnxt")), IO_COUNTERS_BNXT);
	assert_int_equal(io_counter_names_for("", profile("efa")), IO_COUNTERS_EFA);
	assert_int_equal(io_counter_names_for("", profile("rxe")), IO_COUNTERS_RXE);
	assert_int_equal(io_counter_names_for("mlx5_core", profile("default")), IO_COUNTERS_MLX5);
	assert_int_equal(io_counter_names_for("bnxt_en", profile("cx5")), IO_COUNTERS_BNXT);
	assert_int_equal(io_counter_names_for("other", profile("cx5")), IO_COUNTERS_OWN);
	for (unsigned i = 0; i < IO_COUNTERS_COUNT; i++) {
		const enum io_counter_names names = (enum io_counter_names)i;
		unsigned n;
		const struct io_counter *table = io_counter_table(names, &n);

		for (unsigned k = 0; k < n; k++)
			assert_true(has(names, table[k].name));
		assert_int_equal(has(names, "hw_counters/lifespan"), names != IO_COUNTERS_OWN);
	}
	assert_true(has(IO_COUNTERS_BNXT, "hw_counters/active_qps"));
	assert_true(has(IO_COUNTERS_EFA, "hw_counters/rx_drops"));
}

static void test_no_folder(void **state)
{
	struct io_counter_files f;

	(void)state;
	assert_int_equal(io_counter_files_open(&f, "/nonexistent", &t.d.ports[0].dev), -ENOENT);
	assert_int_equal(f.root, -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void ignore(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)timer;
	(void)events;
}

/* A second after the work, however long the loop slept before it. */
static void test_timer_after_sleep(void **state)
{
	double before;
	ev_timer timer;

	(void)state;
	ev_init(&timer, ignore);
	ev_now_update(t.d.loop);
	do
		before = ev_time();
	while (before < ev_now(t.d.loop) + 0.1);
	io_counter_timer_touch(t.d.loop, &timer);
	assert_true(ev_now(t.d.loop) + ev_timer_remaining(t.d.loop, &timer) > before + 0.95);
	ev_timer_stop(t.d.loop, &timer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_timer_after_sleep),
		TEST(test_zero_at_first),
		TEST(test_update),
		TEST(test_unchanged),
		TEST(test_timer),
		TEST(test_smaller),
		TEST(test_names),
		TEST(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
