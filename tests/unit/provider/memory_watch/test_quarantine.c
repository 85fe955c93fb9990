/* SPDX-License-Identifier: BSD-2-Clause */
/* Freed memory that peers may write to: kept until its region is gone, or too much is kept. */
#include "provider/memory_watch/memory_watch.h"

#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static int mr;
static unsigned ended;

static void end(void *p)
{
	ended++;
	free(p);
}

static void *region(size_t size, bool is_target)
{
	void *p = calloc(1, size);
	const struct uhcav_range r = {
		.mr = &mr, .from = (uintptr_t)p, .to = (uintptr_t)p + size, .is_target = is_target};

	assert_non_null(p);
	uhcav_range_add(&r);
	return p;
}

/* AddressSanitizer keeps freed memory itself. */
static void need_the_allocator(void)
{
#if defined(__SANITIZE_ADDRESS__)
	skip();
#endif
}

static void test_taken(void **state)
{
	void *p;

	(void)state;
	need_the_allocator();
	p = region(64, true);
	ended = 0;
	assert_true(uhcav_quarantine_take(p, 64, NULL, end));
	uhcav_quarantine_look();
	memset(p, 'x', 64); /* no check is on: nothing is told, and it is ended here */
	uhcav_quarantine_look();
	assert_int_equal(ended, 1);
	uhcav_range_remove(&mr);
}

static void test_not_taken(void **state)
{
	void *p = region(64, false);

	(void)state;
	assert_false(uhcav_quarantine_take(p, 64, NULL, end));
	free(p);
	uhcav_range_remove(&mr);
	p = region(8 << 20, true);
	assert_false(uhcav_quarantine_take(p, 8 << 20, NULL, end));
	free(p);
	uhcav_range_remove(&mr);
}

static void test_bound(void **state)
{
	void *p[100];

	(void)state;
	need_the_allocator();
	ended = 0;
	for (unsigned i = 0; i < 100; i++) {
		p[i] = region(64, true);
		assert_true(uhcav_quarantine_take(p[i], 64, NULL, end));
		uhcav_range_remove(&mr);
	}
	assert_int_equal(ended, 36);
	uhcav_quarantine_end(&ended); /* another region */
	assert_int_equal(ended, 36);
	uhcav_quarantine_end(&mr);
	assert_int_equal(ended, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_not_taken),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
