/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The doorbell bitmap against the client's own helper: each bell is heard once, none beyond what
 * was handed out, whatever a client scribbles; and none is lost while another thread rings.
 */
#include "../support/cmocka_all.h"
#include "../support/prng.h"
#include "emu/io/doorbell.h"

#include <pthread.h>
#include <string.h>

static struct uhca_abi_doorbell page;
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
	assert_true(io_doorbell_pending(&page, 64));
	assert_int_equal(io_doorbell_take(&page, 64, ring, NULL), 8);
	assert_false(io_doorbell_pending(&page, 64));
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(heard[number[i]], 1);
	assert_int_equal(io_doorbell_take(&page, 64, ring, NULL), 0);
}

static void test_beyond_what_was_given(void **state)
{
	(void)state;
	uhca_doorbell_set(&page, 4096);
	assert_false(io_doorbell_pending(&page, 1));
	assert_int_equal(io_doorbell_take(&page, 1, ring, NULL), 0);
}

static void test_scribbled(void **state)
{
	(void)state;
	memset(page.summary, 0xff, sizeof(page.summary));
	assert_int_equal(io_doorbell_take(&page, 64, ring, NULL), 0);
	memset(page.summary, 0xff, sizeof(page.summary));
	memset(page.word, 0xff, sizeof(page.word));
	assert_int_equal(io_doorbell_take(&page, 64, ring, NULL), UHCA_ABI_DOORBELL_MAX);
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
		io_doorbell_take(&page, 1, see, NULL);
	io_doorbell_take(&page, 1, see, NULL);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
