/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives of an SRQ in any order: each once, from the first of the ring, whose lies end here too.
 */
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/queues/srq_reorder.h"
#include "emu/core/queues/wqe_fetch.h"

#include <string.h>

#define ENTRIES 16u
#define SGES    3u

static struct {
	struct uhca_abi_queue page;
	uint8_t slots[ENTRIES * UHCA_ABI_RECV_STRIDE(SGES)];
} shared;

static struct recv_queue start(uint64_t seed)
{
	struct recv_queue rq = {.entries = ENTRIES,
				.stride = UHCA_ABI_RECV_STRIDE(SGES),
				.max_sge = SGES,
				.page = &shared.page,
				.slots = shared.slots};

	memset(&shared, 0, sizeof shared);
	assert_int_equal(srq_reorder_create(&rq, seed), 0);
	return rq;
}

static void post(uint64_t wr_id, uint32_t sges)
{
	uint32_t p = shared.page.recv.producer;
	struct uhca_abi_recv_wqe w = {.wr_id = wr_id, .num_sge = sges};

	memcpy(shared.slots + (size_t)(p % ENTRIES) * UHCA_ABI_RECV_STRIDE(SGES), &w, sizeof w);
	shared.page.recv.producer = p + 1;
}

static void test_each_once(void **state)
{
	unsigned in_order = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct recv_queue rq = start(seed);
		uint64_t seen = 0, next = 0;
		bool sorted = true;

		for (unsigned taken = 0; taken < 60; taken++) {
			struct recv_wr wr;

			while (next < 60 && recv_available(&rq) < ENTRIES)
				post(next++, 1);
			assert_int_equal(recv_fetch(&rq, &wr), FETCH_OK);
			assert_false(seen >> wr.wr_id & 1);
			assert_true(wr.wr_id < taken + SRQ_REORDER_MOST);
			seen |= UINT64_C(1) << wr.wr_id;
			sorted = sorted && wr.wr_id == taken;
			assert_int_equal(shared.page.recv.consumer, taken + 1);
			assert_int_equal(recv_available(&rq), next - taken - 1);
		}
		assert_int_equal(seen, (UINT64_C(1) << 60) - 1);
		in_order += sorted;
		srq_reorder_destroy(&rq);
	}
	assert_int_equal(in_order, 0);
}

/* What was looked at last is what is taken; one alone is found, and none. */
static void test_look(void **state)
{
	struct recv_queue rq = start(1);
	struct recv_wr wr, left;

	(void)state;
	assert_int_equal(recv_peek(&rq, &wr), FETCH_EMPTY);
	post(7, 0);
	assert_int_equal(recv_peek(&rq, &wr), FETCH_OK);
	assert_int_equal(wr.wr_id, 7);
	post(8, 0);
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(recv_peek(&rq, &wr), FETCH_OK);
	recv_take(&rq);
	assert_int_equal(recv_fetch(&rq, &left), FETCH_OK);
	assert_int_equal(wr.wr_id + left.wr_id, 15);
	assert_int_equal(recv_peek(&rq, &wr), FETCH_EMPTY);
	srq_reorder_destroy(&rq);
}

static void test_lies(void **state)
{
	struct recv_queue rq = start(1);
	struct recv_wr wr;

	(void)state;
	post(1, SGES + 1);
	assert_int_equal(recv_peek(&rq, &wr), FETCH_BROKEN);
	srq_reorder_destroy(&rq);
	rq = start(1);
	post(1, 0);
	assert_int_equal(recv_peek(&rq, &wr), FETCH_OK);
	shared.page.recv.producer = 0; /* it was never posted */
	assert_int_equal(recv_peek(&rq, &wr), FETCH_BROKEN);
	shared.page.recv.producer = ENTRIES + 2;
	assert_int_equal(recv_peek(&rq, &wr), FETCH_BROKEN);
	srq_reorder_destroy(&rq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests_name("srq_reorder", tests, NULL, NULL);
}
