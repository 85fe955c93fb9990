/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says of pages of this process, and how long it is believed. */
#include "emu/io/mem/present.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE  4096u
#define PAGES 300u

static struct io_present *p;
static uint8_t *base;

static int make(void **state)
{
	(void)state;
	p = io_present_open(getpid());
	assert_non_null(p);
	base = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(base != MAP_FAILED);
	assert_int_equal(madvise(base, PAGES * PAGE, MADV_NOHUGEPAGE), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	munmap(base, PAGES * PAGE);
	io_present_close(p);
	return 0;
}

static bool all(size_t offset, size_t length)
{
	struct iovec piece = {base + offset, length};

	return io_present_all(p, &piece, 1, false) && io_present_all(p, &piece, 1, true);
}

static void touch(unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++)
		base[i * PAGE] = 1;
}

static void test_pages(void **state)
{
	(void)state;
	assert_false(all(0, 1));
	touch(0, 1);
	assert_true(all(0, 1));
	assert_true(all(0, PAGE));
	assert_true(all(PAGE - 1, 1));
	assert_false(all(PAGE - 1, 2));
	assert_false(all(0, 2 * PAGE));
	touch(1, 200); /* more than one call asks for */
	assert_true(all(0, 201 * PAGE));
	assert_false(all(0, 201 * PAGE + 1));
	assert_true(all(5 * PAGE, 0));
}

static void test_several_pieces(void **state)
{
	struct iovec piece[3] = {{base, 8}, {base + 8 * PAGE, 0}, {base + 2 * PAGE, 8}};

	(void)state;
	touch(0, 1);
	assert_false(io_present_all(p, piece, 3, false));
	touch(2, 1);
	assert_true(io_present_all(p, piece, 3, false));
}

/* What has been there is taken for being there, until something is registered. */
static void test_forget(void **state)
{
	(void)state;
	touch(0, 4);
	assert_true(all(0, 4 * PAGE));
	assert_int_equal(madvise(base, 4 * PAGE, MADV_DONTNEED), 0);
	io_present_forget(p);
	assert_false(all(0, 4 * PAGE));
	assert_int_equal(munmap(base, PAGE), 0);
	assert_false(all(0, 1));
}

static void test_of_nobody(void **state)
{
	struct iovec piece = {base, PAGE};

	(void)state;
	assert_true(io_present_all(NULL, &piece, 1, true));
	io_present_forget(NULL);
	io_present_close(NULL);
	assert_null(io_present_open(0x7fffffff));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pages, make, end),
		cmocka_unit_test_setup_teardown(test_several_pieces, make, end),
		cmocka_unit_test_setup_teardown(test_forget, make, end),
		cmocka_unit_test_setup_teardown(test_of_nobody, make, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
