/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules about accesses to memory: which they hit, and that nothing is read or written then. */
#include "emu/io/base/clock.h"
#include "emu/io/ops.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void add(struct io_daemon *d, const char *text)
{
	struct fault_error error;

	if (io_faults_add(&d->faults, text, io_clock_now(), &error) <= 0)
		fail_msg("%s: column %u: %s", text, error.column, error.text);
	io_faults_changed(&d->faults);
}

static void test_accesses(void **state)
{
	static uint8_t memory[2][64];
	static struct io_test_daemon t;
	const struct core_ops *ops = io_core_ops();
	struct core_span span[2] = {
		{(uintptr_t)memory[0], 64, CORE_SPACE_CLIENT},
		{(uintptr_t)memory[1], 64, CORE_SPACE_CLIENT},
	};
	struct core_span own = {(uintptr_t)memory[1], 64, CORE_SPACE_DEVICE};
	struct io_test_client c;
	uint8_t out[128];
	struct iovec iov = {out, 128};
	char text[100];

	(void)state;
	io_test_daemon_begin(&t, 1);
	io_test_hello(&c, &t.d, "uhca0");
	snprintf(text, sizeof(text), "mem.fail address=0x%lx times=3",
		 (unsigned long)(uintptr_t)&memory[1][10]);
	add(&t.d, text);
	memset(memory, 7, sizeof(memory));
	memset(out, 8, sizeof(out));
	assert_int_equal(ops->mem_read(t.d.clients.at[0], span, 1, out), 0);
	assert_int_equal(out[0], 7);
	memset(out, 8, sizeof(out));
	assert_int_equal(ops->mem_read(t.d.clients.at[0], span, 2, out), -EFAULT);
	assert_int_equal(ops->mem_write(t.d.clients.at[0], span, 2, &iov, 1), -EFAULT);
	for (unsigned i = 0; i < 64; i++)
		assert_true(memory[0][i] == 7 && memory[1][i] == 7);
	/* What is the device's own is there. */
	assert_int_equal(ops->mem_read(t.d.clients.at[0], &own, 1, out), 0);
	span[1].length = 10; /* ends in front of it */
	assert_int_equal(ops->mem_read(t.d.clients.at[0], span, 2, out), 0);
	span[1] = (struct core_span){(uintptr_t)&memory[1][10], 1, CORE_SPACE_CLIENT};
	assert_int_equal(ops->mem_read(t.d.clients.at[0], span + 1, 1, out), -EFAULT);
	assert_int_equal(ops->mem_read(t.d.clients.at[0], span + 1, 1, out), 0);
	io_faults_tick(&t.d.faults, io_clock_now());
	assert_false(io_faults_watch(&t.d.faults, FAULT_LAYER_MEMORY));
	io_test_disconnect(&c);
	io_test_daemon_end(&t);
}

/* Memory that is pinned is the program's, by the program's addresses. */
static void test_pinned(void **state)
{
	static uint8_t memory[8192];
	static struct io_test_daemon t;
	struct uhca_cmd_reg_pinned_mr in = {.mr = {.addr = 0x7f0000000000, .length = 8192},
					    .n_extents = 1,
					    .extent = {{0x7f0000001000, 4096, 4096}}};
	struct core_span span = {(uintptr_t)memory + 4096, 64, CORE_SPACE_DEVICE};
	struct core_row row = {(uintptr_t)memory + 4096, 16, 4, 3};
	struct iovec iov = {memory, 12};
	struct core_arena arena = {.size = sizeof(memory), .window = {memory}};
	struct uhca_cmd_reg_mr_reply reply;
	struct io_test_client c;
	struct client *core;
	uint8_t out[64];

	(void)state;
	io_test_daemon_begin(&t, 1);
	io_test_hello(&c, &t.d, "uhca0");
	core = t.d.clients.at[0]->core;
	assert_int_equal(core_alloc_pd(core, &in.mr.pd), 0);
	assert_int_equal(core_attach_arena(core, &arena), 0);
	assert_int_equal(core_reg_pinned_mr(core, &in, &reply), 0);
	add(&t.d, "mem.fail address=0x7f0000001020");
	assert_int_equal(io_core_ops()->mem_read(t.d.clients.at[0], &span, 1, out), -EFAULT);
	span.length = 32; /* ends in front of it */
	assert_int_equal(io_core_ops()->mem_read(t.d.clients.at[0], &span, 1, out), 0);
	assert_int_equal(io_core_ops()->mem_read_row(t.d.clients.at[0], &row, out), -EFAULT);
	assert_int_equal(io_core_ops()->mem_write_row(t.d.clients.at[0], &row, &iov), -EFAULT);
	row.addr += 4; /* its elements are around it */
	assert_int_equal(io_core_ops()->mem_read_row(t.d.clients.at[0], &row, out), 0);
	assert_int_equal(io_core_ops()->mem_write_row(t.d.clients.at[0], &row, &iov), 0);
	io_test_disconnect(&c);
	io_test_daemon_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_accesses),
					   cmocka_unit_test(test_pinned)};

	return cmocka_run_group_tests_name("fault_mem", tests, NULL, NULL);
}
