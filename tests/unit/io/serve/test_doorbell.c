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

/* The second half of a ring, of a thread that was in the midst of it. */
static void use_ticket(uint32_t ticket, uint32_t number)
{
	page.order[ticket % UHCA_ABI_ORDER_SLOTS] = (uint64_t)(ticket + 1) << 32 | number;
	page.summary[number / 4096] |= 1ull << (number / 64 % 64);
}

static void expect_rung(uint32_t a, uint32_t b)
{
	n_rung = 0;
	assert_int_equal(io_doorbell_take(&bell, keep, NULL), 2);
	assert_int_equal(rung[0], a);
	assert_int_equal(rung[1], b);
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

/* The thread that has its ticket and has not used it: the others' order is known all the same. */
static void test_in_the_midst(void **state)
{
	uint32_t mine;

	(void)state;
	page.word[1] |= 1;
	mine = page.tickets++;
	for (uint32_t round = 0; round < 3 * UHCA_ABI_ORDER_SLOTS; round++) {
		uhca_doorbell_set(&page, 700);
		uhca_doorbell_set(&page, 7);
		expect_rung(700, 7);
	}
	use_ticket(mine, 64);
	assert_int_equal(io_doorbell_take(&bell, keep, NULL), 1);
	assert_int_equal(rung[2], 64);
}

/* While 300 is rung, the thread uses its ticket for 4000 and rings 7. */
static void go_on(void *arg, uint32_t number)
{
	uint32_t *mine = arg;

	keep(NULL, number);
	if (number != 300)
		return;
	use_ticket(*mine, 4000);
	uhca_doorbell_set(&page, 7);
}

static void test_goes_on(void **state)
{
	uint32_t mine;

	(void)state;
	page.word[4000 / 64] |= 1ull << (4000 % 64);
	mine = page.tickets++;
	uhca_doorbell_set(&page, 300);
	n_rung = 0;
	assert_int_equal(io_doorbell_take(&bell, go_on, &mine), 3);
	assert_int_equal(rung[0], 300);
	assert_int_equal(rung[1], 4000);
	assert_int_equal(rung[2], 7);
}

/* Served between its bit and its ticket: the ticket does not stand for the next time it rings. */
static void serve_early(void)
{
	page.word[0] |= 1 << 7;
	page.summary[0] |= 1;
	assert_int_equal(io_doorbell_take(&bell, ring, NULL), 1);
}

static void test_ticket_comes_late(void **state)
{
	(void)state;
	serve_early();
	use_ticket(page.tickets++, 7);
	for (uint32_t round = 0; round < 2; round++) {
		uhca_doorbell_set(&page, 4000);
		uhca_doorbell_set(&page, 7);
		expect_rung(4000, 7);
	}
}

/* Its number was lost: the doorbell is late some times, and has its place again. */
static void test_ticket_never_comes(void **state)
{
	(void)state;
	serve_early();
	for (uint32_t round = 0; round < 100; round++) {
		uhca_doorbell_set(&page, 7);
		uhca_doorbell_set(&page, 4000);
		if (round < 20)
			assert_int_equal(io_doorbell_take(&bell, ring, NULL), 2);
		else
			expect_rung(7, 4000);
	}
}

/* A look ends, though each ring makes another; what was not reached is served by the next. */
static void ring_again(void *arg, uint32_t number)
{
	ring(arg, number);
	uhca_doorbell_set(&page, 300);
}

static void test_rings_for_ever(void **state)
{
	(void)state;
	uhca_doorbell_set(&page, 300);
	assert_in_range(io_doorbell_take(&bell, ring_again, NULL), 1, 4 * UHCA_ABI_ORDER_SLOTS);
	assert_true(io_doorbell_pending(&bell));
	assert_int_equal(io_doorbell_take(&bell, ring, NULL), 1);
	assert_false(io_doorbell_pending(&bell));
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
	while (io_doorbell_pending(&bell))
		assert_in_range(io_doorbell_take(&bell, ring, NULL), 1, UHCA_ABI_DOORBELL_MAX);
	for (unsigned i = 0; i < UHCA_ABI_DOORBELL_MAX; i++)
		assert_int_equal(heard[i], 1);
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

/* Other threads': pairs of doorbells, the higher number first, that no look may turn around. */
#define HIGH      4000u
#define LOW       300u
#define THREADS   2u
#define PAIRS     20000u
#define SPINS_MAX 100 /* looks, before the other thread may need the processor */

static struct pairs {
	uint32_t rung; /* so far */
	uint32_t high_seen, low_seen;
} pairs[THREADS];
static uint32_t reordered;

static void *ring_pairs(void *arg)
{
	struct pairs *p = arg;
	uint32_t which = (uint32_t)(p - pairs);

	for (unsigned i = 1; i <= PAIRS; i++) {
		__atomic_store_n(&p->rung, i, __ATOMIC_RELEASE);
		uhca_doorbell_set(&page, HIGH + which);
		uhca_doorbell_set(&page, LOW + which);
		for (unsigned k = 0; __atomic_load_n(&p->low_seen, __ATOMIC_ACQUIRE) != i; k++)
			if (k > SPINS_MAX)
				sched_yield();
	}
	return NULL;
}

static void see_pair(void *arg, uint32_t number)
{
	struct pairs *p = &pairs[number - (number >= HIGH ? HIGH : LOW)];
	uint32_t now = __atomic_load_n(&p->rung, __ATOMIC_ACQUIRE);

	(void)arg;
	if (number >= HIGH) {
		p->high_seen = now;
		return;
	}
	reordered += p->high_seen != now;
	__atomic_store_n(&p->low_seen, now, __ATOMIC_RELEASE);
}

static void never_reordered(unsigned n)
{
	pthread_t thread[THREADS];

	memset(pairs, 0, sizeof(pairs));
	reordered = 0;
	bell.summaries = 1;
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, ring_pairs, &pairs[i]), 0);
	for (unsigned i = 0; i < n; i++)
		for (unsigned idle = 0; pthread_tryjoin_np(thread[i], NULL) != 0; idle++) {
			if (io_doorbell_take(&bell, see_pair, NULL))
				idle = 0;
			else if (idle > SPINS_MAX)
				sched_yield();
		}
	assert_int_equal(reordered, 0);
}

static void test_never_reordered(void **state)
{
	(void)state;
	never_reordered(1);
}

static void test_two_threads(void **state)
{
	(void)state;
	never_reordered(2);
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
		cmocka_unit_test_setup(test_in_the_midst, setup),
		cmocka_unit_test_setup(test_goes_on, setup),
		cmocka_unit_test_setup(test_ticket_comes_late, setup),
		cmocka_unit_test_setup(test_ticket_never_comes, setup),
		cmocka_unit_test_setup(test_rings_for_ever, setup),
		cmocka_unit_test_setup(test_never_reordered, setup),
		cmocka_unit_test_setup(test_two_threads, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
