/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the core is given: rings that can be handed over, events that reach the right channel,
 * bytes that are not the same twice.
 */
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/ops.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	struct io_test_daemon t;
	struct io_test_client c;
	struct io_client *mine;
	const struct core_ops *ops;
};

static int setup(void **state)
{
	static struct fixture f;

	io_test_daemon_begin(&f.t, 1);
	io_test_hello(&f.c, &f.t.d, "uhca0");
	f.mine = f.t.d.clients.at[0];
	f.ops = io_core_ops();
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_test_disconnect(&f->c);
	io_test_daemon_end(&f->t);
	return 0;
}

static void test_memory(void **state)
{
	struct fixture *f = *state;
	char here[] = "in this process";
	char out[sizeof(here)];
	struct core_span span = {(uint64_t)(uintptr_t)here, sizeof(here), CORE_SPACE_CLIENT};
	struct iovec iov = {(void *)(uintptr_t) "in this PROCESS", sizeof(here)};

	assert_int_equal(f->ops->mem_read(f->mine, &span, 1, out), 0);
	assert_string_equal(out, "in this process");
	assert_int_equal(f->ops->mem_write(f->mine, &span, 1, &iov, 1), 0);
	assert_string_equal(here, "in this PROCESS");
}

/* Only what stays in this process is taken from where it stands, and not past rules. */
static void test_map(void **state)
{
	struct fixture *f = *state;
	const uint8_t *here = f->t.d.ports[0].dev.id.addresses.a[0].gid;
	static const uint8_t elsewhere[16] = {0x20, 0x01};
	char byte;
	struct core_span span = {(uintptr_t)&byte, 1, CORE_SPACE_DEVICE};
	struct fault_error error;

	assert_ptr_equal(f->ops->mem_map(f->mine, &span, here), &byte);
	assert_null(f->ops->mem_map(f->mine, &span, elsewhere));
	f->mine->dev->loopback->always_wire = true;
	assert_null(f->ops->mem_map(f->mine, &span, here));
	f->mine->dev->loopback->always_wire = false;
	assert_true(io_faults_add(&f->t.d.faults, "mem.fail address=0x10", io_clock_now(), &error) >
		    0);
	io_faults_changed(&f->t.d.faults);
	assert_null(f->ops->mem_map(f->mine, &span, here));
}

/* What goes to a device of the daemon waits for no socket, unless all goes by one. */
static void test_stays(void **state)
{
	struct fixture *f = *state;
	const uint8_t *here = f->t.d.ports[0].dev.id.addresses.a[0].gid;
	static const uint8_t elsewhere[16] = {0x20, 0x01};
	struct io_device *dev = f->mine->dev;

	assert_true(f->ops->stays(dev, here));
	assert_false(f->ops->stays(dev, elsewhere));
	dev->loopback->always_wire = true;
	assert_false(f->ops->stays(dev, here));
	dev->loopback->always_wire = false;
}

/* Rows are mapped memory. */
static void test_rows(void **state)
{
	struct fixture *f = *state;
	uint32_t column[6] = {1, 0, 2, 0, 3, 0}, in[3] = {7, 8, 9}, out[3];
	struct core_row row = {(uintptr_t)column, 8, 4, 3};
	struct iovec iov = {in, sizeof(in)};

	assert_int_equal(f->ops->mem_read_row(f->mine, &row, out), 0);
	assert_true(out[0] == 1 && out[1] == 2 && out[2] == 3);
	assert_int_equal(f->ops->mem_write_row(f->mine, &row, &iov), 0);
	assert_true(column[0] == 7 && column[2] == 8 && column[4] == 9 && column[5] == 0);
	f->mine->gone = true;
	assert_int_equal(f->ops->mem_read_row(f->mine, &row, out), -ESRCH);
	assert_int_equal(f->ops->mem_write_row(f->mine, &row, &iov), -ESRCH);
	f->mine->gone = false;
}

static void test_rings(void **state)
{
	struct fixture *f = *state;
	unsigned fds = io_test_open_fds();
	struct core_ring ring;
	struct io_shm *shm;

	assert_int_equal(f->ops->ring_alloc(f->mine, 10000, &ring), 0);
	assert_true(ring.size >= 10000);
	shm = ring.token;
	assert_ptr_equal(shm->base, ring.base);
	assert_true(shm->fd >= 0);
	memset(ring.base, 1, ring.size);
	f->ops->ring_free(f->mine, &ring);
	assert_int_equal(io_test_open_fds(), fds);
	f->ops->ring_free(f->mine, &ring);
	assert_int_not_equal(f->ops->ring_alloc(f->mine, SIZE_MAX / 4, &ring), 0);
}

static void test_completion_events(void **state)
{
	struct fixture *f = *state;
	uint32_t handle;
	uint64_t got = 0;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(io_channel_table_add(&f->mine->channels, pair[1], &handle), 0);
	f->ops->comp_event(f->mine, handle, 0xabc);
	assert_int_equal(recv(pair[0], &got, sizeof(got), MSG_DONTWAIT), sizeof(got));
	assert_int_equal(got, 0xabc);
	f->ops->comp_event(f->mine, handle + 1, 0xabc); /* no such channel */
	f->ops->comp_event(f->mine, 0, 0xabc);
	assert_int_equal(recv(pair[0], &got, sizeof(got), MSG_DONTWAIT), -1);
	/* more than the socket takes, then taken back */
	for (uint64_t i = 1; io_channel_table_get(&f->mine->channels, handle)->waiting.n < 1; i++)
		f->ops->comp_event(f->mine, handle, got = i);
	f->ops->comp_purge(f->mine, handle, got);
	f->ops->comp_purge(f->mine, handle + 1, got);
	assert_int_equal(io_channel_table_get(&f->mine->channels, handle)->waiting.n, 0);
	close(pair[0]);
}

static void test_async_events(void **state)
{
	struct fixture *f = *state;
	struct uhca_abi_async_event event = {.element = 0x1234, .type = UHCA_ABI_EVENT_COMM_EST};
	struct uhca_abi_async_event got;

	f->ops->async_event(f->mine, &event);
	assert_int_equal(recv(f->c.async, &got, sizeof(got), MSG_DONTWAIT), sizeof(got));
	assert_memory_equal(&got, &event, sizeof(got));
}

static void test_random(void **state)
{
	struct fixture *f = *state;
	uint8_t a[1000] = {0};
	uint8_t b[1000] = {0};

	f->ops->random(NULL, a, sizeof(a));
	f->ops->random(NULL, b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	f->ops->random(NULL, a, 0);
}

static void test_trace(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(io_log_open(IO_LOG_DEBUG, IO_LOG_FILE, "/dev/null"), 0);
	for (int p = CORE_TRACE_QP_STATE; p < CORE_TRACE_POINTS; p++)
		f->ops->trace(
			&f->t.d.ports[0].dev,
			&(struct core_trace){.point = (enum core_trace_point)p, .a = 2, .b = 3});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_memory),       TEST(test_map),    TEST(test_stays),
		TEST(test_rows),         TEST(test_rings),  TEST(test_completion_events),
		TEST(test_async_events), TEST(test_random), TEST(test_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
