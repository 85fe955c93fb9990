/* SPDX-License-Identifier: BSD-2-Clause */
/* Extension headers: fields at their places, no byte of any header lost, no byte beyond it. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "wire/ext.h"

#include <string.h>

#define CANARY 0xc7

static struct prng rng;

static void test_reth_places(void **state)
{
	const struct roce_reth h = {0x0102030405060708, 0x090a0b0c, 0x0d0e0f10};
	uint8_t p[ROCE_RETH_LENGTH];

	(void)state;
	roce_reth_emit(&h, p);
	for (uint8_t i = 0; i < sizeof(p); i++)
		assert_int_equal(p[i], i + 1);
}

static void test_aeth_places(void **state)
{
	const struct roce_aeth h = {0x61, 0xff020304};
	uint8_t p[ROCE_AETH_LENGTH];

	(void)state;
	roce_aeth_emit(&h, p);
	assert_memory_equal(p, ((uint8_t[]){0x61, 2, 3, 4}), 4);
}

static void test_deth_places(void **state)
{
	const struct roce_deth h = {.qkey = 0x80010000, .reserved = 0xab, .src_qp = 0xff000001};
	uint8_t p[ROCE_DETH_LENGTH];

	(void)state;
	roce_deth_emit(&h, p);
	assert_memory_equal(p, ((uint8_t[]){0x80, 1, 0, 0, 0xab, 0, 0, 1}), 8);
}

static void test_atomiceth_places(void **state)
{
	const struct roce_atomiceth h = {
		.va = 0x0102030405060708,
		.rkey = 0x090a0b0c,
		.swap_add = 0x0d0e0f1011121314,
		.compare = 0x15161718191a1b1c,
	};
	uint8_t p[ROCE_ATOMICETH_LENGTH];

	(void)state;
	roce_atomiceth_emit(&h, p);
	for (uint8_t i = 0; i < sizeof(p); i++)
		assert_int_equal(p[i], i + 1);
}

static void test_feth_places(void **state)
{
	const struct roce_feth h = {.placement = 2, .selectivity = 1};
	const struct roce_feth wide = {.placement = 0xf0, .selectivity = 0xfc};
	const struct roce_feth reserved = {.reserved = 0x3ffffff};
	uint8_t p[ROCE_FETH_LENGTH];

	(void)state;
	roce_feth_emit(&h, p);
	assert_memory_equal(p, ((uint8_t[]){0, 0, 0, 0x12}), 4);
	roce_feth_emit(&wide, p);
	assert_memory_equal(p, ((uint8_t[]){0, 0, 0, 0}), 4);
	roce_feth_emit(&reserved, p);
	assert_memory_equal(p, ((uint8_t[]){0xff, 0xff, 0xff, 0xc0}), 4);
}

/*
 * Random bytes through parse and emit come out the same (so no bit is lost and two different byte
 * strings never give one value), and emit stops where the header ends.
 */
#define TEST_BYTES(name, LENGTH)                                                                   \
	static void test_##name##_bytes(void **state)                                              \
	{                                                                                          \
		(void)state;                                                                       \
		for (int i = 0; i < 2000; i++) {                                                   \
			uint8_t in[LENGTH];                                                        \
			uint8_t out[LENGTH + 1];                                                   \
			struct roce_##name h;                                                      \
                                                                                                   \
			prng_fill(&rng, in, sizeof(in));                                           \
			out[LENGTH] = CANARY;                                                      \
			roce_##name##_parse(in, &h);                                               \
			roce_##name##_emit(&h, out);                                               \
			assert_memory_equal(in, out, LENGTH);                                      \
			assert_int_equal(out[LENGTH], CANARY);                                     \
		}                                                                                  \
	}

TEST_BYTES(reth, ROCE_RETH_LENGTH)
TEST_BYTES(aeth, ROCE_AETH_LENGTH)
TEST_BYTES(deth, ROCE_DETH_LENGTH)
TEST_BYTES(atomiceth, ROCE_ATOMICETH_LENGTH)
TEST_BYTES(feth, ROCE_FETH_LENGTH)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reth_places),     cmocka_unit_test(test_aeth_places),
		cmocka_unit_test(test_deth_places),     cmocka_unit_test(test_atomiceth_places),
		cmocka_unit_test(test_feth_places),     cmocka_unit_test(test_reth_bytes),
		cmocka_unit_test(test_aeth_bytes),      cmocka_unit_test(test_deth_bytes),
		cmocka_unit_test(test_atomiceth_bytes), cmocka_unit_test(test_feth_bytes),
	};

	rng = prng_start("ext");
	return cmocka_run_group_tests_name("ext", tests, NULL, NULL);
}
