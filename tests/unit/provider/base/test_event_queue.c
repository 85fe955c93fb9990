/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking one object's events out of a channel. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/base/event_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2]; /* read, write */
static struct uhcav_event_queue queue;

static int setup(void **state)
{
	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return -1;
	uhcav_event_queue_construct(&queue, pair[0], pair[1], sizeof(uint64_t));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	uhcav_event_queue_destruct(&queue);
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static bool put_event(uint64_t cookie)
{
	return send(pair[1], &cookie, sizeof(cookie), MSG_DONTWAIT) == sizeof(cookie);
}

/* As the application reads: through libibverbs, which then calls the provider. */
static uint64_t get(void)
{
	uint64_t cookie = 0;

	if (recv(pair[0], &cookie, sizeof(cookie), MSG_DONTWAIT) != sizeof(cookie))
		return 0;
	uhcav_event_queue_refill(&queue);
	return cookie;
}

static void test_empty(void **state)
{
	(void)state;
	errno = ENOTTY;
	assert_int_equal(uhcav_event_queue_purge(&queue, 5), 0);
	assert_int_equal(errno, ENOTTY); /* of a queue that is empty */
	assert_int_equal(get(), 0);
}

static void *purge_cancelled(void *n)
{
	pthread_cancel(pthread_self());
	*(unsigned *)n = uhcav_event_queue_purge(&queue, 5);
	pthread_testcancel();
	return NULL;
}

/* A thread that is cancelled comes to the end of its call: nothing is lost, no lock stays. */
static void test_cancelled(void **state)
{
	pthread_t thread;
	unsigned n = 0;
	void *result;

	(void)state;
	assert_true(put_event(4) && put_event(5) && put_event(6));
	assert_int_equal(pthread_create(&thread, NULL, purge_cancelled, &n), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(n, 1);
	assert_int_equal(get(), 4);
	assert_int_equal(get(), 6);
	assert_int_equal(uhcav_event_queue_purge(&queue, 5), 0);
}

static void test_order(void **state)
{
	const uint64_t in[] = {1, 5, 2, 5, 5, 3, 1};
	const uint64_t out[] = {1, 2, 3, 1, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
		assert_true(put_event(in[i]));
	assert_int_equal(uhcav_event_queue_purge(&queue, 5), 3);
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
		assert_int_equal(get(), out[i]);
}

/* Async records are longer; what follows the cookie comes back as it was. */
static void test_long_records(void **state)
{
	uint64_t a[2] = {7, 0x1122}, b[2] = {8, 0x3344}, got[2];

	(void)state;
	assert_int_equal(send(pair[1], a, sizeof(a), 0), sizeof(a));
	assert_int_equal(send(pair[1], b, sizeof(b), 0), sizeof(b));
	queue.size = sizeof(a);
	assert_int_equal(uhcav_event_queue_purge(&queue, 7), 1);
	assert_int_equal(recv(pair[0], got, sizeof(got), MSG_DONTWAIT), sizeof(got));
	assert_memory_equal(got, b, sizeof(b));
}

static void test_full_queue(void **state)
{
	uint64_t n = 0, seen = 0;

	(void)state;
	while (put_event(n % 3 == 0 ? 5 : 1000 + n))
		n++;
	assert_true(n > 100);
	assert_int_equal(uhcav_event_queue_purge(&queue, 5), (n + 2) / 3);
	for (uint64_t i = 0; i < n; i++) {
		if (i % 3 == 0)
			continue;
		assert_int_equal(get(), 1000 + i);
		seen++;
	}
	assert_int_equal(get(), 0);
	assert_int_equal(seen, n - (n + 2) / 3);
}

/* What does not fit waits; no event is lost, and their order stays. */
static void test_backlog(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 2000; i++)
		uhcav_event_queue_put(&queue, &i);
	assert_int_equal(uhcav_event_queue_purge(&queue, 7), 1);
	assert_int_equal(uhcav_event_queue_purge(&queue, 1999), 1);
	for (uint64_t i = 1; i <= 2000; i++)
		if (i != 7 && i != 1999)
			assert_int_equal(get(), i);
	assert_int_equal(get(), 0);
	assert_int_equal(queue.n, 0);
}

/* A sender that fills the queue all the time loses nothing, and keeps nobody. */
#define SENT 3000u

static void *sender(void *arg)
{
	uint64_t cookie;

	(void)arg;
	for (cookie = 100; cookie < 100 + SENT; cookie++)
		if (send(pair[1], &cookie, sizeof(cookie), 0) != sizeof(cookie))
			break;
	return NULL;
}

static void test_concurrent(void **state)
{
	static uint8_t seen[SENT];
	unsigned n = 0;
	pthread_t t;

	(void)state;
	memset(seen, 0, sizeof(seen));
	assert_int_equal(pthread_create(&t, NULL, sender, NULL), 0);
	while (n < SENT) {
		uint64_t cookie = get();
		if (n % 50 == 0)
			uhcav_event_queue_purge(&queue, 5);
		if (!cookie)
			continue;
		assert_in_range(cookie, 100, 99 + SENT);
		assert_int_equal(seen[cookie - 100]++, 0);
		n++;
	}
	pthread_join(t, NULL);
	assert_int_equal(get(), 0);
}

static void test_held(void **state)
{
	(void)state;
	assert_false(uhcav_events_held(0, 0, 0, 0));
	assert_true(uhcav_events_held(1, 0, 0, 0)); /* read, and nobody has told us yet */
	assert_true(uhcav_events_held(1, 0, 1, 0));
	assert_false(uhcav_events_held(1, 0, 1, 1));
	assert_false(uhcav_events_held(3, 3, 0, 0)); /* taken back */
	assert_true(uhcav_events_held(3, 1, 1, 1));
	assert_false(uhcav_events_held(1, 0xffffffff, 2, 2)); /* the counts wrap */
	assert_false(uhcav_events_held(0, 0, 5, 5));          /* no device that counts */
	assert_true(uhcav_events_held(0, 0, 5, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cancelled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(test_backlog, setup, teardown),
		cmocka_unit_test_setup_teardown(test_concurrent, setup, teardown),
		cmocka_unit_test(test_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
