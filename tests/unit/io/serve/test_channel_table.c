/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles of completion channels: none is given twice in a row for one slot, a closed channel
 * frees its slot by itself, wrong handles find nothing.
 */
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

struct fixture {
	struct ev_loop *loop;
	struct io_watches watches;
	struct io_channel_table t;
};

static int setup(void **state)
{
	static struct fixture f;

	f.loop = ev_loop_new(EVBACKEND_EPOLL);
	assert_int_equal(io_watches_open(&f.watches, f.loop), 0);
	io_channel_table_init(&f.t, &f.watches);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_channel_table_destroy(&f->t);
	io_watches_close(&f->watches);
	ev_loop_destroy(f->loop);
	return 0;
}

/* Returns the reader's end. */
static int add(struct fixture *f, uint32_t *handle)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(io_channel_table_add(&f->t, pair[1], handle), 0);
	assert_int_not_equal(*handle, 0);
	return pair[0];
}

static void test_handles(void **state)
{
	struct fixture *f = *state;
	uint64_t cookie = 5;
	uint64_t got;
	uint32_t a;
	uint32_t b;
	int ra = add(f, &a);
	int rb = add(f, &b);

	assert_int_not_equal(a, b);
	assert_int_equal(f->t.count, 2);
	io_channel_send(io_channel_table_get(&f->t, b), &cookie);
	assert_int_equal(recv(rb, &got, sizeof(got), MSG_DONTWAIT), 8);
	assert_int_equal(got, 5);
	assert_int_equal(io_channel_table_remove(&f->t, a), 0);
	assert_int_equal(io_channel_table_remove(&f->t, a), -ENOENT);
	assert_null(io_channel_table_get(&f->t, a));
	assert_non_null(io_channel_table_get(&f->t, b));
	close(ra);
	close(rb);
}

static void test_slot_is_used_again_by_another_handle(void **state)
{
	struct fixture *f = *state;
	uint32_t a;
	uint32_t b;
	int reader = add(f, &a);

	assert_int_equal(io_channel_table_remove(&f->t, a), 0);
	close(reader);
	reader = add(f, &b);
	assert_int_equal(f->t.n_slots, 1);
	assert_int_not_equal(a, b);
	assert_null(io_channel_table_get(&f->t, a));
	close(reader);
}

/* No search: what was closed last is used first. */
static void test_free_slots(void **state)
{
	struct fixture *f = *state;
	uint32_t handle[4], again;
	int reader[4];

	for (unsigned i = 0; i < 4; i++)
		reader[i] = add(f, &handle[i]);
	assert_int_equal(io_channel_table_remove(&f->t, handle[0]), 0);
	assert_int_equal(io_channel_table_remove(&f->t, handle[2]), 0);
	for (unsigned i = 0; i < 2; i++) {
		close(add(f, &again));
		assert_int_equal(again & 0xffff, handle[i ? 0 : 2] & 0xffff);
	}
	assert_int_equal(f->t.n_slots, 4);
	close(add(f, &again));
	assert_int_equal(f->t.n_slots, 5);
	for (unsigned i = 0; i < 4; i++)
		close(reader[i]);
}

static bool is_empty(void *arg)
{
	return ((struct fixture *)arg)->t.count == 0;
}

/* ibv_destroy_comp_channel is a close. */
static void test_closed_channel_leaves(void **state)
{
	struct fixture *f = *state;
	uint32_t a;

	close(add(f, &a));
	assert_true(io_test_run(f->loop, is_empty, f));
	assert_null(io_channel_table_get(&f->t, a));
}

static void test_wrong_handles(void **state)
{
	struct fixture *f = *state;
	uint32_t a;
	int reader = add(f, &a);

	assert_null(io_channel_table_get(&f->t, 0));
	assert_null(io_channel_table_get(&f->t, a + 1));
	assert_null(io_channel_table_get(&f->t, a | 1u << 31));
	assert_null(io_channel_table_get(&f->t, UINT32_MAX));
	close(reader);
}

static void test_limits(void **state)
{
	struct fixture *f = *state;
	uint32_t handle;
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	assert_int_equal(io_channel_table_add(&f->t, fd[0], &handle), -EINVAL);
	assert_int_equal(f->t.count, 0);
	close(fd[0]);
	close(fd[1]);
}

/* A client has so many, and one more when one of them has gone. */
static void test_most(void **state)
{
	struct fixture *f = *state;
	struct rlimit old, more;
	uint32_t handle;
	int pair[2];

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	more = old;
	more.rlim_cur = IO_CHANNELS_MAX + 100;
	if (old.rlim_max < more.rlim_cur)
		skip();
	if (old.rlim_cur < more.rlim_cur)
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &more), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	for (unsigned i = 0; i < IO_CHANNELS_MAX; i++)
		assert_int_equal(io_channel_table_add(&f->t, dup(pair[1]), &handle), 0);
	assert_int_equal(io_channel_table_add(&f->t, pair[1], &handle), -EMFILE);
	assert_int_equal(f->t.count, IO_CHANNELS_MAX);
	assert_int_equal(io_channel_table_remove(&f->t, handle), 0);
	assert_int_equal(io_channel_table_add(&f->t, pair[1], &handle), 0);
	io_channel_table_destroy(&f->t);
	close(pair[0]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_handles),       TEST(test_slot_is_used_again_by_another_handle),
		TEST(test_free_slots),    TEST(test_closed_channel_leaves),
		TEST(test_wrong_handles), TEST(test_limits),
		TEST(test_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
