/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges and what happens to them: by parts, the youngest first, until it is told or undone. */
#include "provider/memory_watch/memory_watch.h"

#include "tests/support/wire/cmocka_all.h"

static int mr, other;

static struct uhcav_range range(const void *self, uintptr_t from, uintptr_t to, bool is_remote)
{
	return (struct uhcav_range){.mr = self, .from = from, .to = to, .is_remote = is_remote};
}

static void change(enum uhcav_change_kind kind, uintptr_t from, uintptr_t to)
{
	uhcav_ranges_change(&(struct uhcav_change){.kind = kind, .from = from, .to = to});
}

static void test_parts(void **state)
{
	const struct uhcav_range r = range(&mr, 0x1000, 0x3000, false);
	struct uhcav_change c;
	struct uhcav_range open;

	(void)state;
	assert_false(uhcav_ranges_meet(0x1000, 0x3000));
	uhcav_range_add(&r);
	assert_true(uhcav_ranges_meet(0x2fff, 0x4000));
	assert_false(uhcav_ranges_meet(0x3000, 0x4000));
	assert_false(uhcav_ranges_any());
	change(UHCAV_UNMAPPED, 0x2000, 0x3000);
	change(UHCAV_MAPPED, 0x2000, 0x3000);
	change(UHCAV_MAPPED, 0x5000, 0x6000);
	assert_true(uhcav_ranges_any());
	assert_false(uhcav_ranges_look(&mr, 0x1000, 0x1000, &c));
	assert_true(uhcav_ranges_look(&mr, 0x1000, 0x1001, &c));
	assert_int_equal(c.kind, UHCAV_MAPPED);
	assert_false(uhcav_ranges_look(&other, 0x1000, 0x2000, &c));
	assert_false(uhcav_ranges_take(&open, &c)); /* no peer uses it */
	uhcav_range_remove(&mr);
	assert_false(uhcav_ranges_any());
}

static void test_freed(void **state)
{
	const struct uhcav_range r = range(&mr, 0x1000, 0x2000, true);
	struct uhcav_change c;

	(void)state;
	uhcav_range_add(&r);
	change(UHCAV_FREED, 0x1000, 0x1100);
	change(UHCAV_FREED, 0x1200, 0x1300);
	uhcav_ranges_alive(0x1080, 0x1090);
	assert_false(uhcav_ranges_look(&mr, 0x1000, 0x100, &c));
	assert_true(uhcav_ranges_look(&mr, 0x1200, 0x100, &c));
	uhcav_ranges_alive(0x1000, 0x2000);
	assert_false(uhcav_ranges_any());
	uhcav_range_remove(&mr);
}

/* Whole pages of what was freed. */
static void test_trimmed(void **state)
{
	const struct uhcav_range r = range(&mr, 0x1000, 0x8000, false);
	struct uhcav_change c;

	(void)state;
	uhcav_range_add(&r);
	change(UHCAV_FREED, 0x1010, 0x1fff);
	change(UHCAV_FREED, 0x2010, 0x5010);
	uhcav_ranges_trim("malloc_trim", NULL);
	assert_true(uhcav_ranges_look(&mr, 0x4fff, 1, &c));
	assert_int_equal(c.kind, UHCAV_DROPPED);
	assert_true(uhcav_ranges_look(&mr, 0x2020, 16, &c));
	assert_int_equal(c.kind, UHCAV_FREED);
	assert_true(uhcav_ranges_look(&mr, 0x1020, 16, &c));
	assert_int_equal(c.kind, UHCAV_FREED);
	uhcav_range_remove(&mr);
}

/* What peers may use is told once; more changes than there is room for push the oldest out. */
static void test_open(void **state)
{
	const struct uhcav_range r = range(&mr, 0x1000, 0x2000, true);
	struct uhcav_range open;
	struct uhcav_change c;
	unsigned told = 0;

	(void)state;
	uhcav_range_add(&r);
	change(UHCAV_UNMAPPED, 0x1000, 0x2000);
	assert_false(uhcav_ranges_take(&open, &c));
	for (unsigned i = 0; i < 2 * UHCAV_RANGE_CHANGES; i++)
		change(UHCAV_DROPPED, 0x1000, 0x2000);
	while (uhcav_ranges_take(&open, &c))
		told++;
	assert_int_equal(told, UHCAV_RANGE_CHANGES);
	assert_ptr_equal(open.mr, &mr);
	change(UHCAV_MAPPED, 0x1000, 0x2000);
	uhcav_range_remove(&mr);
	assert_false(uhcav_ranges_take(&open, &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_freed),
		cmocka_unit_test(test_trimmed),
		cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
