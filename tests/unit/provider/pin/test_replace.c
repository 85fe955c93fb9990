/* SPDX-License-Identifier: BSD-2-Clause */
/* The swap of pages: what was there is there, by each way; and the way back. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/pin/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE ((size_t)5 << 20) /* chunks, and a part of one */
#define PAGE 4096u
#define RW   (PROT_READ | PROT_WRITE)

static int file(size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	return fd;
}

/* Every third page was touched. */
static char *some_pages(void)
{
	char *p = mmap(NULL, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	for (size_t i = 0; i < SIZE; i += (size_t)3 * PAGE)
		memset(p + i, (int)(i / PAGE % 100 + 1), PAGE);
	return p;
}

static void check_pages(const char *p)
{
	for (size_t i = 0; i < SIZE; i += PAGE) {
		char want = i % ((size_t)3 * PAGE) ? 0 : (char)(i / PAGE % 100 + 1);

		assert_int_equal(p[i], want);
		assert_int_equal(p[i + PAGE - 1], want);
	}
}

/* The file has what an earlier region left there. */
static void fill(int fd, size_t size)
{
	char *all = mmap(NULL, size, RW, MAP_SHARED, fd, 0);

	assert_true(all != MAP_FAILED);
	memset(all, 88, size);
	munmap(all, size);
}

static void check_way(enum uhcav_stop stop)
{
	int fd = file(SIZE + PAGE);
	char *p = some_pages(), *again;
	struct stat st;

	fill(fd, SIZE + PAGE);
	assert_int_equal(uhcav_replace((uintptr_t)p, (uintptr_t)p + SIZE, fd, PAGE, stop), 1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true((size_t)st.st_blocks * 512 < SIZE / 2); /* what was not there is not */
	check_pages(p);
	again = mmap(NULL, SIZE, RW, MAP_SHARED, fd, PAGE);
	check_pages(again);
	p[SIZE - 1] = 55; /* one and the same */
	assert_int_equal(again[SIZE - 1], 55);
	p[SIZE - 1] = 0;

	assert_int_equal(uhcav_make_private((uintptr_t)p, (uintptr_t)p + SIZE, RW), 0);
	check_pages(p);
	again[0] = 99;
	check_pages(p);
	munmap(again, SIZE);
	munmap(p, SIZE);
	close(fd);
}

static void test_ways(void **state)
{
	enum uhcav_stop stop = uhcav_stop_for_threads();

	(void)state;
	check_way(UHCAV_STOP_NONE);
	if (stop == UHCAV_STOP_ALL)
		check_way(UHCAV_STOP_ALL);
	if (stop != UHCAV_STOP_UNKNOWN)
		check_way(UHCAV_STOP_USER);
}

/* Who wants all of it there need not ask for what is. */
static void test_no_holes(void **state)
{
	char *p = some_pages();
	int fd = file(SIZE);

	(void)state;
	memset(p, 3, SIZE);
	assert_int_equal(uhcav_replace((uintptr_t)p, (uintptr_t)p + SIZE, fd, 0, UHCAV_STOP_NONE),
			 0);
	for (size_t i = 0; i < SIZE; i += PAGE)
		assert_int_equal(p[i], 3);
	munmap(p, SIZE);
	close(fd);
}

/* Nothing is lost where it fails: here a descriptor that cannot be mapped so. */
static void test_failure(void **state)
{
	char *p = some_pages();
	int fd = file(SIZE), readable;
	char path[40];

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readable = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(readable >= 0);
	assert_true(uhcav_replace((uintptr_t)p, (uintptr_t)p + SIZE, readable, 0, UHCAV_STOP_NONE) <
		    0);
	check_pages(p);
	assert_int_equal(
		uhcav_replace((uintptr_t)p, (uintptr_t)p + SIZE, fd, 0, UHCAV_STOP_UNKNOWN),
		-EPERM);
	check_pages(p);
	close(readable);
	close(fd);
	munmap(p, SIZE);
}

/* Rights that the program has set stay. */
static void test_rights(void **state)
{
	static const int rights[] = {PROT_READ, PROT_NONE};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		int fd = file(SIZE);
		char *p = mmap(NULL, SIZE, RW, MAP_SHARED, fd, 0);

		memset(p, 7, SIZE);
		assert_int_equal(mprotect(p, SIZE, rights[i]), 0);
		assert_int_equal(uhcav_make_private((uintptr_t)p, (uintptr_t)p + SIZE, rights[i]),
				 0);
		/* the system cannot store there either */
		assert_int_equal(pread(open("/dev/zero", O_RDONLY | O_CLOEXEC), p, 1, 0), -1);
		assert_int_equal(errno, EFAULT);
		assert_int_equal(mprotect(p, SIZE, RW), 0);
		assert_int_equal(p[SIZE - 1], 7);
		munmap(p, SIZE);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_no_holes),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_rights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
