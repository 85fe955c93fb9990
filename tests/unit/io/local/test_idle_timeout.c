/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of waiting for somebody: it comes once when nobody has been there for the time, and not
 * while anybody is.
 */
#include "emu/io/local/idle_timeout.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

static unsigned ended;

static void over(struct io_idle_timeout *l)
{
	(void)l;
	ended++;
}

static bool has_ended(void *arg)
{
	(void)arg;
	return ended > 0;
}

static int setup(void **state)
{
	static struct io_idle_timeout l;
	struct ev_loop *loop = ev_loop_new(EVFLAG_NOENV);

	assert_non_null(loop);
	ended = 0;
	io_idle_timeout_init(&l, loop, 1, over);
	*state = &l;
	return 0;
}

static int teardown(void **state)
{
	struct io_idle_timeout *l = *state;

	io_idle_timeout_stop(l);
	ev_loop_destroy(l->loop);
	return 0;
}

static void test_nobody_comes(void **state)
{
	struct io_idle_timeout *l = *state;

	assert_false(ev_is_active(&l->timer));
	io_idle_timeout_start(l);
	assert_true(io_test_run(l->loop, has_ended, NULL));
	assert_int_equal(ended, 1);
	assert_false(ev_is_active(&l->timer));
}

/* It runs while nobody is there only: the last who goes starts it. */
static void test_come_and_go(void **state)
{
	struct io_idle_timeout *l = *state;

	io_idle_timeout_start(l);
	io_idle_timeout_come(l);
	io_idle_timeout_come(l);
	assert_false(ev_is_active(&l->timer));
	io_idle_timeout_start(l);
	assert_false(ev_is_active(&l->timer));
	io_idle_timeout_go(l);
	assert_false(ev_is_active(&l->timer));
	io_idle_timeout_go(l);
	assert_true(ev_is_active(&l->timer));
	assert_int_equal(ended, 0);
}

static void test_for_ever(void **state)
{
	struct io_idle_timeout *l = *state;

	l->seconds = 0;
	io_idle_timeout_start(l);
	io_idle_timeout_come(l);
	io_idle_timeout_go(l);
	assert_false(ev_is_active(&l->timer));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nobody_comes),
		TEST(test_come_and_go),
		TEST(test_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
