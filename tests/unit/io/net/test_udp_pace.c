/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long trains of services without a window pause behind a burst for which a receiver has room; what
 * comes more slowly by itself never does, nor do RC and XRC.
 */
#include "emu/io/net/udp_pace.h"
#include "tests/support/wire/cmocka_all.h"

#define ROOM  1000000
#define LONG  65536
#define BEGIN 1000000

/* A train of length bytes in packets of 4 KiB. */
static struct core_train train(enum roce_service service, uint32_t length)
{
	struct core_train t = {.length = length, .count = (length + 4095) / 4096};

	assert_true(roce_opcode_find(service, ROCE_OP_SEND, ROCE_POS_ONLY, false, false,
				     &t.head.bth.opcode));
	return t;
}

static void test_windows(void **state)
{
	const enum roce_service service[] = {ROCE_SVC_RC, ROCE_SVC_XRC};
	struct io_udp_pace p;

	(void)state;
	io_udp_pace_init(&p, ROOM);
	for (unsigned i = 0; i < 200; i++) {
		struct core_train t = train(service[i % 2], LONG);

		assert_false(io_udp_pace_sent(&p, &t, BEGIN));
	}
	assert_false(io_udp_pace_over(&p, UINT64_MAX));
}

/* However often it looks: bytes of headers and payload, two nanoseconds each. */
static void test_bursts(void **state)
{
	struct core_train t = train(ROCE_SVC_UC, LONG);
	uint64_t now = BEGIN, pause = 2 * 2 * (LONG + 16 * 64);
	struct io_udp_pace p;

	(void)state;
	io_udp_pace_init(&p, ROOM);
	for (unsigned i = 0; i < 100; i++) {
		assert_false(io_udp_pace_sent(&p, &t, now));
		assert_false(io_udp_pace_over(&p, now));
		assert_true(io_udp_pace_sent(&p, &t, now + 10));
		assert_false(io_udp_pace_over(&p, now + pause - 1));
		assert_true(io_udp_pace_over(&p, now + pause));
		assert_false(io_udp_pace_over(&p, now + pause));
		now += pause;
	}
}

static void test_little_room(void **state)
{
	struct core_train t = train(ROCE_SVC_UD, 4096);
	struct io_udp_pace p;

	(void)state;
	io_udp_pace_init(&p, 5 * 4096);
	for (unsigned i = 0; i < 4; i++)
		assert_false(io_udp_pace_sent(&p, &t, BEGIN));
	assert_true(io_udp_pace_sent(&p, &t, BEGIN));
}

/* Short messages, and long ones of who has other things to do, are slower than that. */
static void test_slow(void **state)
{
	const struct {
		uint32_t length;
		uint64_t every;
	} slow[] = {{8, 150}, {4096, 8400}, {LONG, 140000}};

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct core_train t = train(ROCE_SVC_UD, slow[k].length);
		struct io_udp_pace p;

		io_udp_pace_init(&p, ROOM);
		for (uint64_t i = 0; i < 10000; i++)
			assert_false(io_udp_pace_sent(&p, &t, BEGIN + i * slow[k].every));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_little_room),
		cmocka_unit_test(test_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
