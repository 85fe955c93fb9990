/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The doorbells against the client's own helper: each bell is heard once, in the order of ringing,
 * none beyond what was handed out, whatever a client scribbles; and none is lost while another
 * thread rings.
 */
#include "emu/io/serve/doorbell.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

static struct uhca_abi_doorbell page;
static struct io_doorbell bell;
static uint8_t heard[UHCA_ABI_DOORBELL_MAX];

static void ring(void *arg, uint32_t number)
{
	(void)arg;
	assert_true(number < UHCA_ABI_DOORBELL_MAX);
	heard[number]++;
}

static int setup(void **state)
{
	(void)state;
	memset(&page, 0, sizeof(page));
	memset(heard, 0, sizeof(heard));
	bell = (struct io_doorbell){.page = &page, .summaries = 64};
	return 0;
}

static void test_summaries(void **state)
{
	(void)state;
	assert_int_equal(io_doorbell_summaries(0), 0);
	assert_int_equal(io_doorbell_summaries(1), 1);
	assert_int_equal(io_doorbell_summaries(4096), 1);
	assert_int_equal(io_doorbell_summaries(4097), 2);
	assert_int_equal(io_doorbell_summaries(UHCA_ABI_DOORBELL_MAX),
			 UHCA_ABI_DOORBELL_WORDS / 64);
}

static void test_each_once(void **state)
{
	static const uint32_t number[] = {0,    1,    63,     64,
					  4095, 4096, 100000, UHCA_ABI_DOORBELL_MAX - 1};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		uhca_doorbell_set(&page, number[i]);
		uhca_doorbell_set(&page, number[i]);
	}
	assert_true(io_doorbell_pending(&bell));
	assert_int_equal(io_doorbell_take(&bell, ring, NULL), 8);
	assert_false(io_doorbell_pending(&bell));
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(heard[number[i]], 1);
	assert_int_equal(io_doorbell_take(&bell, ring, NULL), 0);
}

static uint32_t rung[2 * UHCA_ABI_ORDER_SLOTS], n_rung;

static void keep(void *arg, uint32_t number)
{
	(void)arg;
	rung[n_rung++] = number;
}

/* Again and again, so that tickets run around the slots, and over. */
static void test_order(void **state)
{
	struct prng rng = prng_start("test_doorbell");

	(void)state;
	page.tickets = bell.ticket = UINT32_MAX - 5;
	for (unsigned round = 0; round < 5000; round++) {
		uint32_t want[8], n = 0;

		for (unsigned i = 0; i < 8; i++) {
			uint32_t number = prng_below(&rng, UHCA_ABI_DOORBELL_MAX);
			bool again = false;

			for (unsigned k = 0; k < n; k++)
				again |= want[k] == number;
			uhca_doorbell_set(&page, number);
			if (!again)
				want[n++] = number;
		}
		uhca_doorbell_set(&page, want[0]); /* keeps its place */
		n_rung = 0;
		assert_int_equal(io_doorbell_take(&bell, keep, NULL), n);
		assert_memory_equal(rung, want, n * sizeof(want[0]));
	}
}

/* More than there are slots, and a thread that has set its bit and nothing else yet. */
static void test_without_order(void **state)
{
	(void)state;
	for (uint32_t i = 0; i <= UHCA_ABI_ORDER_SLOTS; i++)
		uhca_doorbell_set(&page, i);
	assert_int_equal(io_doorbell_take(&bell, ring, NULL), UHCA_ABI_ORDER_SLOTS + 1);
	page.word[1] |= 1;
	page.tickets++; /* it has its ticket, and has not used it */
	uhca_doorbell_set(&page, 7);
	uhca_doorbell_set(&page, 3);
	n_rung = 0;
	page.summary[0] |= 2;
	assert_int_equal(io_doorbell_take(&bell, keep, NULL), 3);
	assert_int_equal(rung[0], 7);
	assert_int_equal(rung[1], 3);
	assert_int_equal(rung[2], 64);
	assert_int_equal(io_doorbell_take(&bell, keep, NULL), 0);
}

static void test_beyond_what_was_given(void **state)
{
	(void)state;
	bell.summaries = 1;
	uhca_doorbell_set(&page, 4096);
	assert_false(io_doorbell_pending(&bell));
	assert_int_equal(io_doorbell_take(&bell, ring, NULL), 0);
}

static void test_scribbled(void **state)
{
	(void)state;
	memset(page.summary, 0xff, sizeof(page.summary));
	assert_int_equal(io_doorbell_take(&bell, ring, NULL), 0);
	memset(page.summary, 0xff, sizeof(page.summary));
	memset(page.word, 0xff, sizeof(page.word));
	memset(page.order, 0xff, sizeof(page.order));
	page.tickets = 100;
	assert_int_equal(io_doorbell_take(&bell, ring, NULL), UHCA_ABI_DOORBELL_MAX);
}

#define RINGS 100000

static uint32_t posted[256];

static void *ring_for_ever(void *arg)
{
	struct prng rng = *(struct prng *)arg;

	for (unsigned i = 0; i < RINGS; i++) {
		uint32_t n = prng_below(&rng, 256);

		__atomic_fetch_add(&posted[n], 1, __ATOMIC_RELAXED);
		uhca_doorbell_set(&page, n);
	}
	return NULL;
}

static uint32_t seen[256];

/* A second thread's: pairs of doorbells, the higher number first, that no look may turn around. */
#define HIGH     4000u
#define LOW      300u
#define PAIRS    20000u
#define PATIENCE 100 /* looks, before the other thread may need the processor */

static uint32_t pairs; /* rung so far */
static uint32_t high_seen, low_seen, turned;

static void *ring_pairs(void *arg)
{
	for (unsigned i = 1; i <= PAIRS; i++) {
		__atomic_store_n(&pairs, i, __ATOMIC_RELEASE);
		uhca_doorbell_set(&page, HIGH);
		uhca_doorbell_set(&page, LOW);
		for (unsigned k = 0; __atomic_load_n(&low_seen, __ATOMIC_ACQUIRE) != i; k++)
			if (k > PATIENCE)
				sched_yield();
	}
	return arg;
}

static void see_pair(void *arg, uint32_t number)
{
	uint32_t now = __atomic_load_n(&pairs, __ATOMIC_ACQUIRE);

	(void)arg;
	if (number == HIGH) {
		high_seen = now;
		return;
	}
	turned += high_seen != now;
	__atomic_store_n(&low_seen, now, __ATOMIC_RELEASE);
}

static void test_never_turned(void **state)
{
	pthread_t thread;

	(void)state;
	bell.summaries = 1;
	assert_int_equal(pthread_create(&thread, NULL, ring_pairs, NULL), 0);
	for (unsigned idle = 0; pthread_tryjoin_np(thread, NULL) != 0; idle++) {
		if (io_doorbell_take(&bell, see_pair, NULL))
			idle = 0;
		else if (idle > PATIENCE)
			sched_yield();
	}
	assert_int_equal(turned, 0);
}

/* What was posted before the bell is visible when it is heard. */
static void see(void *arg, uint32_t number)
{
	(void)arg;
	seen[number] = __atomic_load_n(&posted[number], __ATOMIC_RELAXED);
}

static void test_none_lost(void **state)
{
	struct prng rng = prng_start("test_doorbell");
	pthread_t thread;
	uint64_t all = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, ring_for_ever, &rng), 0);
	while (pthread_tryjoin_np(thread, NULL) != 0)
		io_doorbell_take(&bell, see, NULL);
	io_doorbell_take(&bell, see, NULL);
	for (unsigned i = 0; i < 256; i++) {
		assert_int_equal(seen[i], posted[i]);
		all += posted[i];
	}
	assert_int_equal(all, RINGS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_summaries, setup),
		cmocka_unit_test_setup(test_each_once, setup),
		cmocka_unit_test_setup(test_beyond_what_was_given, setup),
		cmocka_unit_test_setup(test_scribbled, setup),
		cmocka_unit_test_setup(test_none_lost, setup),
		cmocka_unit_test_setup(test_order, setup),
		cmocka_unit_test_setup(test_without_order, setup),
		cmocka_unit_test_setup(test_never_turned, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
