/* SPDX-License-Identifier: BSD-2-Clause */
/* Probing memory before registration, by madvise and by the list of mappings. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/base/mem_probe.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

/* Four pages: read-write, read-only, none, not mapped. */
static uint8_t *area;

static int setup(void **state)
{
	(void)state;
	area = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		return -1;
	mprotect(area + PAGE, PAGE, PROT_READ);
	mprotect(area + 2 * PAGE, PAGE, PROT_NONE);
	munmap(area + 3 * PAGE, PAGE);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return munmap(area, 3 * PAGE);
}

static int by_madvise(uint8_t *addr, size_t length, bool writable)
{
	return uhcav_mem_probe(addr, length, writable);
}

static int by_maps(uint8_t *addr, size_t length, bool writable)
{
	uintptr_t start = (uintptr_t)addr & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)addr + length + PAGE - 1) & ~(uintptr_t)(PAGE - 1);

	return uhcav_mem_probe_maps(start, end, writable);
}

static void check(int (*probe)(uint8_t *addr, size_t length, bool writable))
{
	assert_int_equal(probe(area, PAGE, true), 0);
	assert_int_equal(probe(area + 5, 1, true), 0);
	assert_int_equal(probe(area, 2 * PAGE, false), 0);
	assert_int_equal(probe(area, PAGE + 1, true), -EFAULT);
	assert_int_equal(probe(area + PAGE, 1, true), -EFAULT);
	assert_int_equal(probe(area + PAGE, PAGE, false), 0);
	assert_int_equal(probe(area + 2 * PAGE, 1, false), -EFAULT);
	assert_int_equal(probe(area, 3 * PAGE, false), -EFAULT);
	assert_int_equal(probe(area + 3 * PAGE, 1, false), -EFAULT);
	assert_int_equal(probe(NULL, 1, false), -EFAULT);
	assert_int_equal(probe((uint8_t *)&area, sizeof(area), true), 0);
	assert_int_equal(probe((uint8_t *)(uintptr_t) "text", 4, true), -EFAULT);
}

static void test_madvise(void **state)
{
	(void)state;
	check(by_madvise);
	assert_int_equal(uhcav_mem_probe((void *)(uintptr_t)(UINTPTR_MAX - 5), 100, false),
			 -EFAULT);
	assert_int_equal(uhcav_mem_probe((void *)(uintptr_t)(UINTPTR_MAX - 5), 3, false), -EFAULT);
}

static void test_maps(void **state)
{
	(void)state;
	check(by_maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_madvise, setup, teardown),
		cmocka_unit_test_setup_teardown(test_maps, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
