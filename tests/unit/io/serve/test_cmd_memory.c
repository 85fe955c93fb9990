/* SPDX-License-Identifier: BSD-2-Clause */
/* Arenas of clients by their commands: whether they are taken, and how much of them is mapped. */
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct fixture {
	struct io_test_daemon t;
	struct io_daemon *d;
	struct io_test_client c;
};

static int setup(void **state)
{
	static struct fixture f;

	io_test_daemon_begin(&f.t, 1);
	f.d = &f.t.d;
	io_test_hello(&f.c, f.d, "uhca0");
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

static uint32_t alloc_pd(struct fixture *f)
{
	uint32_t pd = 0;

	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_ALLOC_PD, 0, &pd), 0);
	return pd;
}

static int reg_pinned(struct fixture *f, uint32_t pd, uint64_t length, uint64_t offset)
{
	struct uhca_cmd_reg_pinned_mr in = {
		.mr = {.addr = 1 << 20, .length = length, .pd = pd},
		.n_extents = 1,
		.extent = {{1 << 20, length, offset}},
	};

	return io_test_call(&f->c, UHCA_CMD_REG_PINNED_MR, &in, sizeof(in));
}

static int attach(struct fixture *f, uint64_t size)
{
	struct uhca_cmd_attach_arena in = {.size = size};
	int fd = memfd_create("arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int error;

	assert_true(fd >= 0 && !ftruncate(fd, (off_t)size));
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	error = io_test_call_fds(&f->c, UHCA_CMD_ATTACH_ARENA, &in, sizeof(in), &fd, 1);
	close(fd);
	return error;
}

/* A process has as many addresses as it leaves to the others; then its memory is borrowed. */
static void test_arena_room(void **state)
{
	struct fixture *f = *state;
	uint64_t size = UHCA_ABI_MAX_ARENA, most = io_arenas_most(), mapped = 0;
	struct io_client *c;
	uint32_t pd;
	int error = 0;

	f->d->clients.pin = UHCA_ABI_PIN_ALL;
	assert_int_equal(attach(f, size), 0);
	pd = alloc_pd(f);
	c = f->d->clients.at[0];
	c->arena.mapped += most - 5 * CORE_ARENA_WINDOW; /* as if of other contexts */
	assert_int_equal(reg_pinned(f, pd, 4096, size), -EINVAL);
	assert_int_equal(c->arena.core.window[0], NULL);
	for (uint64_t at = 0; at < size && error == 0; at += CORE_ARENA_WINDOW) {
		error = reg_pinned(f, pd, 4096, at);
		mapped += error == 0;
	}
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(mapped, 3);
	assert_int_equal(reg_pinned(f, pd, 4096, 8192), 0); /* what is mapped can be used */
	c->arena.mapped -= most - 5 * CORE_ARENA_WINDOW;
}

static void test_arena(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_attach_arena in = {.size = 1 << 20};
	int fd = memfd_create("arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0 && !ftruncate(fd, 1 << 20));
	assert_int_equal(f->d->clients.pin, UHCA_ABI_PIN_OFF);
	assert_int_equal(fcntl(fd, F_GET_SEALS), 0);
	assert_int_equal(io_test_call_fds(&f->c, UHCA_CMD_ATTACH_ARENA, &in, sizeof(in), &fd, 1),
			 -EOPNOTSUPP);
	f->d->clients.pin = UHCA_ABI_PIN_SAFE;
	assert_int_equal(io_test_call_fds(&f->c, UHCA_CMD_ATTACH_ARENA, &in, sizeof(in), &fd, 1),
			 -EINVAL); /* it could shrink */
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(io_test_call_fds(&f->c, UHCA_CMD_ATTACH_ARENA, &in, sizeof(in), &fd, 1),
			 0);
	assert_int_equal(io_test_call_fds(&f->c, UHCA_CMD_ATTACH_ARENA, &in, sizeof(in), &fd, 1),
			 -EBUSY);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_arena), TEST(test_arena_room)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
