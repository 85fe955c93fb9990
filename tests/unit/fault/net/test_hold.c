/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that wait: by time and in order, with room for so many, none lost and none twice. */
#include "emu/fault/net/hold.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <stdlib.h>
#include <string.h>

static struct core_burst packet(uint32_t psn, uint8_t *payload, uint32_t length)
{
	struct core_burst t;
	struct roce_packet pkt = {.bth = {.opcode.v = ROCE_RC_SEND_ONLY, .dest_qp = 5, .psn = psn},
				  .payload = payload,
				  .payload_len = length};

	core_burst_start(&t, &pkt, &(struct roce_flow){.sport = 1});
	return t;
}

static bool hold_packet(struct fault_hold *h, uint32_t psn, uint64_t due, uint64_t overtakers)
{
	uint8_t payload[4] = {1, 2, 3, (uint8_t)psn};
	struct core_burst t = packet(psn, payload, sizeof payload);

	return fault_hold_time(
		h, &(struct fault_to_hold){
			   .burst = &t, .dir = FAULT_TX, .due = due, .overtakers = overtakers});
}

static void expect(struct fault_held *e, uint32_t psn)
{
	assert_non_null(e);
	assert_int_equal(e->burst.head.bth.psn, psn);
	assert_int_equal(e->burst.head.payload[3], (uint8_t)psn);
	assert_ptr_equal(e->burst.iov[0].iov_base, e->payload);
	free(e);
}

static void test_time(void **state)
{
	struct fault_hold h = {0};

	(void)state;
	assert_int_equal(fault_hold_deadline(&h), UINT64_MAX);
	hold_packet(&h, 1, 30, 0);
	hold_packet(&h, 2, 10, 0);
	hold_packet(&h, 3, 20, 0);
	hold_packet(&h, 4, 20, 0);
	assert_int_equal(fault_hold_deadline(&h), 10);
	assert_null(fault_hold_due(&h, 9));
	expect(fault_hold_due(&h, 20), 2);
	expect(fault_hold_due(&h, 20), 3);
	expect(fault_hold_due(&h, 20), 4);
	assert_null(fault_hold_due(&h, 20));
	assert_int_equal(fault_hold_deadline(&h), 30);
	expect(fault_hold_due(&h, UINT64_MAX), 1);
	assert_true(fault_hold_empty(&h));
	assert_int_equal(h.bytes, 0);
	fault_hold_clear(&h);
}

/* Many at random times come out in the order of their times, those of one time as they came. */
static void test_random(void **state)
{
	struct prng rng = prng_start("test_hold");
	static uint64_t due[1000];
	struct fault_hold h = {0};
	uint64_t last = 0;
	uint32_t last_psn = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		due[i] = 1 + prng_below(&rng, 100);
		assert_true(hold_packet(&h, i, due[i], 0));
	}
	for (uint32_t i = 0; i < 1000; i++) {
		struct fault_held *e = fault_hold_due(&h, 100);
		uint32_t psn = e->burst.head.bth.psn;

		assert_true(due[psn] > last || (due[psn] == last && psn > last_psn));
		last = due[psn];
		last_psn = psn;
		expect(e, psn);
	}
	assert_null(fault_hold_due(&h, UINT64_MAX));
	fault_hold_clear(&h);
}

static void test_overtaken(void **state)
{
	struct core_burst by = packet(50, NULL, 0), other = packet(51, NULL, 0);
	struct fault_hold h = {0};

	(void)state;
	other.head.bth.dest_qp = 6;
	hold_packet(&h, 1, 100, 2);
	hold_packet(&h, 2, 50, 1);
	hold_packet(&h, 3, 40, 0);
	assert_non_null(h.reordered.first);
	fault_hold_overtake(&h, FAULT_TX, &other);
	fault_hold_overtake(&h, FAULT_RX, &by);
	assert_null(fault_hold_overtaken(&h));
	fault_hold_overtake(&h, FAULT_TX, &by);
	expect(fault_hold_overtaken(&h), 2);
	assert_null(fault_hold_overtaken(&h));
	fault_hold_overtake(&h, FAULT_TX, &by);
	expect(fault_hold_overtaken(&h), 1);
	assert_null(h.reordered.first);
	hold_packet(&h, 4, 30, 5);
	expect(fault_hold_due(&h, 30), 4); /* its time came first */
	assert_null(h.reordered.first);
	expect(fault_hold_due(&h, 40), 3);
	fault_hold_clear(&h);
}

static void test_people(void **state)
{
	struct fault_hold h = {0};
	struct fault_held *e;
	uint32_t first;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		uint8_t payload[4] = {0, 0, 0, (uint8_t)i};
		struct core_burst t = packet(i, payload, 4);

		assert_true(fault_hold_step(&h, &(struct fault_to_hold){.burst = &t}));
	}
	first = h.stepped.first->number;
	assert_null(fault_hold_find(&h, first + 3));
	e = fault_hold_find(&h, first + 1);
	expect(fault_hold_take_step(&h, e), 1);
	assert_null(fault_hold_find(&h, first + 1));
	assert_null(fault_hold_due(&h, UINT64_MAX)); /* no time lets these go */
	assert_int_equal(h.n_stepped, 2);
	fault_hold_clear(&h);
	assert_true(fault_hold_empty(&h));
	assert_int_equal(h.bytes, 0);
	assert_null(h.stepped.first);
	assert_null(h.stepped.last);
}

static void test_limits(void **state)
{
	static uint8_t payload[ROCE_MAX_MTU];
	struct core_burst t = packet(1, payload, sizeof payload);
	struct fault_to_hold what = {.burst = &t, .due = 5};
	struct fault_hold h = {0};
	unsigned n = 0;

	(void)state;
	while (fault_hold_time(&h, &what))
		n++;
	assert_int_equal(n, FAULT_HOLD_BYTES / (ROCE_MAX_MTU + sizeof(struct fault_held)));
	fault_hold_clear(&h);
	t = packet(1, NULL, 0);
	for (n = 0; fault_hold_step(&h, &what); n++)
		;
	assert_int_equal(n, FAULT_HOLD_STEPPED);
	assert_true(fault_hold_time(&h, &what));
	fault_hold_clear(&h);
	assert_true(fault_hold_step(&h, &what));
	fault_hold_clear(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),      cmocka_unit_test(test_random),
		cmocka_unit_test(test_overtaken), cmocka_unit_test(test_people),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
