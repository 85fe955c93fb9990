/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions: whole pages, a header, power-of-two slots. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/region.h"
#include "emu/core/memory/queue_region.h"

#include <errno.h>

static void test_entries(void **state)
{
	static const uint32_t row[][2] = {{0, 0}, {1, 1}, {2, 2},       {3, 4},
					  {4, 4}, {5, 8}, {1000, 1024}, {1u << 31, 1u << 31}};

	(void)state;
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_int_equal(queue_region_entries(row[i][0]), row[i][1]);
}

static void test_create(void **state)
{
	struct fixture f;
	struct core_ring ring;
	const struct uhca_abi_region *header;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(queue_region_create(f.client, UHCA_ABI_REGION_QP, 4097, &ring), 0);
	header = ring.base;
	assert_int_equal(header->magic, UHCA_ABI_MAGIC);
	assert_int_equal(header->version, UHCA_ABI_VERSION);
	assert_int_equal(header->kind, UHCA_ABI_REGION_QP);
	assert_int_equal(header->reserved, 0);
	assert_int_equal(header->size, 8192);
	assert_int_equal(queue_region_size(&ring), 8192);
	queue_region_destroy(f.client, &ring);
	assert_null(ring.base);
	assert_int_equal(f.rings, 0);
	queue_region_destroy(f.client, &ring); /* nothing there: nothing happens */
	f.fail_ring = 1;
	assert_int_equal(queue_region_create(f.client, UHCA_ABI_REGION_QP, 1, &ring), -ENOMEM);
	assert_int_equal(f.rings, 0);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_create),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
