/* SPDX-License-Identifier: BSD-2-Clause */
/* A queue's layout is believed only when it lies in its region. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/queues/work_queue.h"

#include <errno.h>

#define SIZE 65536u

static uint8_t region[SIZE];

static const struct uhca_abi_queue_layout good = {
	.entries = 64, .stride = 128, .offset = 4096, .data_offset = 16384, .data_stride = 512};

static int init(struct uhca_abi_queue_layout l, uint32_t max_wr)
{
	struct uhcav_work_queue wq = {.max_wr = max_wr};

	return uhcav_work_queue_init(&wq, region, SIZE, &l, 128);
}

static void test_good(void **state)
{
	struct uhcav_work_queue wq = {.max_wr = 50};

	(void)state;
	assert_int_equal(uhcav_work_queue_init(&wq, region, SIZE, &good, 128), 0);
	assert_int_equal(wq.mask, 63);
	assert_ptr_equal(uhcav_work_queue_slot(&wq, 0), region + 4096);
	assert_ptr_equal(uhcav_work_queue_slot(&wq, 65), region + 4096 + 128);
}

static void test_none(void **state)
{
	struct uhcav_work_queue wq = {.max_wr = 0};
	struct uhca_abi_queue_layout l = {.entries = 0};

	(void)state;
	assert_int_equal(uhcav_work_queue_init(&wq, region, SIZE, &l, 128), 0);
	assert_null(wq.entries);
}

#define WITH(field, value)                                                                         \
	({                                                                                         \
		struct uhca_abi_queue_layout l_ = good;                                            \
		l_.field = (value);                                                                \
		l_;                                                                                \
	})

static void test_bad(void **state)
{
	(void)state;
	assert_int_equal(init(good, 65), -EPROTO);
	assert_int_equal(init(WITH(entries, 63), 1), -EPROTO);
	assert_int_equal(init(WITH(entries, 1u << 31), 1), -EPROTO);
	assert_int_equal(init(WITH(stride, 64), 1), -EPROTO);
	assert_int_equal(init(WITH(stride, 129), 1), -EPROTO);
	assert_int_equal(init(WITH(stride, UINT32_MAX - 7), 1), -EPROTO);
	assert_int_equal(init(WITH(offset, 0), 1), -EPROTO);
	assert_int_equal(init(WITH(offset, 4100), 1), -EPROTO);
	assert_int_equal(init(WITH(offset, SIZE - 8), 1), -EPROTO);
	assert_int_equal(init(WITH(offset, UINT64_MAX - 7), 1), -EPROTO);
	assert_int_equal(init(WITH(data_offset, SIZE), 1), -EPROTO);
	assert_int_equal(init(WITH(data_offset, UINT64_MAX), 1), -EPROTO);
	assert_int_equal(init(WITH(data_stride, UINT32_MAX), 1), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
