/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Empty polls: they yield, and sleep where the device has requests of the CQ's send queues that
 * take long. The clock is the test's, and the test plays the device.
 */
#include "tests/support/provider/provider_fixture.h"
#include "tests/support/provider/wrapped_wait.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/base/base.h"
#include "provider/poll/poll_cq.h"
#include "provider/post/post_send.h"

#include <stdbool.h>

static void post(struct fixture *f, unsigned n)
{
	while (n--) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;

		assert_int_equal(uhcav_post_send(&f->qp.qp, &wr, &bad), 0);
	}
}

static void done(struct fixture *f, unsigned n)
{
	f->queue.send.consumer += n;
	uhcav_work_queue_polled(&f->qp.sq, f->queue.send.consumer);
}

/* Polls that find nothing, for so long; how many of them slept. */
static unsigned wait(struct fixture *f, uint64_t time)
{
	uint64_t end = wrapped.now + time;
	struct ibv_wc wc;

	wrapped.yields = wrapped.sleeps = 0;
	while (wrapped.now < end)
		assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 0);
	assert_true(wrapped.yields + wrapped.sleeps > 0);
	return wrapped.sleeps;
}

static struct fixture *begin(void)
{
	uhcav_waits_no_more();
	return fixture_create(IBV_QPT_RC);
}

/* The same from its first look on: from a millisecond on each wait is long (test_yield_backoff). */
static unsigned wait_anew(struct fixture *f)
{
	uhcav_waits_no_more();
	return wait(f, 900 * USEC);
}

/* Nobody knows that they take long before one has. */
static void test_some(void **state)
{
	struct fixture *f = begin();

	(void)state;
	post(f, 4);
	assert_int_equal(wait(f, 200 * USEC), 0);
	assert_true(wait(f, 300 * USEC) > 0);
	assert_in_range(wait(f, 500 * USEC), 8, 9); /* nothing else any more */
	done(f, 4);
	assert_int_equal(wait_anew(f), 0);
	fixture_destroy(f);
}

/* Behind few of them the device would have nothing to do while the program sleeps. */
static void test_few(void **state)
{
	struct fixture *f = begin();

	(void)state;
	post(f, 3);
	assert_int_equal(wait_anew(f), 0);
	fixture_destroy(f);
}

/* Eight: it is known after the first, which took 100 us, that each takes long. */
static void test_many(void **state)
{
	struct fixture *f = begin();

	(void)state;
	post(f, 8);
	assert_int_equal(wait(f, 100 * USEC), 0);
	done(f, 1);
	assert_true(wait(f, 50 * USEC) > 0);
	fixture_destroy(f);
}

/* Each takes 10 us, and 40 those that are left. */
static void test_fast(void **state)
{
	struct fixture *f = begin();

	(void)state;
	post(f, 8);
	assert_int_equal(wait(f, 40 * USEC), 0);
	done(f, 4);
	assert_int_equal(wait(f, 100 * USEC), 0);
	fixture_destroy(f);
}

/* Of what is done since somebody looked, nobody knows how long the device had nothing to do. */
static void test_pause(void **state)
{
	struct fixture *f = begin();

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		post(f, 4);
		assert_int_equal(wait(f, 60 * USEC), 0);
		done(f, 4);
		wrapped.now += 5 * MSEC;
	}
	fixture_destroy(f);
}

/* A thread that has something to do between its looks is to come back soon. */
static void test_busy(void **state)
{
	struct fixture *f = begin();
	struct uhca_abi_cqe e = {.qpn = FIXTURE_QPN, .opcode = UHCA_ABI_WC_RECV};
	struct ibv_wc wc;

	(void)state;
	post(f, 4);
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(wait(f, 20 * USEC), 0);
		fixture_complete(f, &e);
		assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	}
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(wait(f, 20 * USEC), 0);
		post(f, 1);
	}
	fixture_destroy(f);
}

/* Who waits for others waits for nothing that the device has. */
static void test_receiver(void **state)
{
	struct fixture *f = begin();
	struct ibv_cq other;

	(void)state;
	assert_int_equal(wait_anew(f), 0);
	post(f, 4);
	f->qp.qp.send_cq = &other;
	assert_int_equal(wait_anew(f), 0);
	f->qp.qp.send_cq = &f->cq.cq;
	fixture_destroy(f);
}

/* So many receives of so many bytes, each polled, and answered or not; 4 are posted behind them. */
static unsigned wait_in_stream(struct fixture *f, unsigned n, uint32_t bytes, bool answered)
{
	struct uhca_abi_cqe e = {.qpn = FIXTURE_QPN, .opcode = UHCA_ABI_WC_RECV, .byte_len = bytes};
	struct ibv_wc wc;

	f->queue.recv.producer = f->queue.recv.consumer + 4;
	for (unsigned i = 0; i < n; i++) {
		fixture_complete(f, &e);
		assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
		if (answered && i + 1 < n) {
			post(f, 1);
			done(f, 1);
		}
	}
	return wait_anew(f);
}

/* Much that is not answered streams in. */
static void test_stream(void **state)
{
	struct fixture *f = begin();

	(void)state;
	assert_int_equal(wait_in_stream(f, 31, 16384, false), 0);
	assert_in_range(wait_in_stream(f, 1, 16384, false), 13, 16);
	assert_int_equal(wait_in_stream(f, 1, 16383, false), 0); /* something else */
	assert_int_equal(wait_in_stream(f, 40, 16384, true), 0);
	assert_true(wait_in_stream(f, 32, 16384, false) > 0);
	post(f, 1);
	done(f, 1);
	assert_int_equal(wait_anew(f), 0); /* the answer is on its way */
	assert_true(wait_in_stream(f, 33, 16384, false) > 0);
	f->queue.recv.producer = f->queue.recv.consumer + 3;
	assert_int_equal(wait_anew(f), 0); /* the sender would soon have to wait */
	fixture_destroy(f);
}

/* One of many that has something is found, though not at once. */
static void test_of_many(void **state)
{
	struct fixture *f = begin();
	static struct uhcav_qp quiet[100];
	static struct uhca_abi_queue nothing;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		quiet[i] = (struct uhcav_qp){.qp.qp_num = 0x9000 + i, .qp.send_cq = &f->cq.cq};
		quiet[i].sq = f->qp.sq;
		quiet[i].sq.ring = &nothing.send;
		assert_int_equal(uhcav_number_map_add(&f->cq.qps, 0x9000 + i, &quiet[i]), 0);
	}
	post(f, 4);
	assert_true(wait(f, 1000 * USEC) > 0);
	for (unsigned i = 0; i < 100; i++)
		uhcav_number_map_remove(&f->cq.qps, 0x9000 + i);
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_some),     cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),     cmocka_unit_test(test_fast),
		cmocka_unit_test(test_pause),    cmocka_unit_test(test_busy),
		cmocka_unit_test(test_receiver), cmocka_unit_test(test_stream),
		cmocka_unit_test(test_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
