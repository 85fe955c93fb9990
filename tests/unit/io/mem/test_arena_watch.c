/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of an arena that are missing: the device's copies go on with other memory, the file does
 * not get the page, and it is known which arena it was.
 */
#include "tests/support/wire/cmocka_all.h"

#include "emu/io/base/base.h"
#include "emu/io/mem/arena_watch.h"
#include "emu/io/mem/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE  (8u << 20)
#define THERE 65536u /* bytes at the beginning that the file has */

struct fixture {
	int fd;
	struct io_arena a;
	uint8_t *at; /* where the arena is mapped */
};

/* In the test itself, whose signals cmocka takes. */
static void start(struct fixture *f)
{
	if (!io_arena_watch_open()) {
		printf("# userfaultfd(2) is not granted\n");
		exit(77);
	}
	*f = (struct fixture){.fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
	assert_int_equal(ftruncate(f->fd, SIZE), 0);
	assert_int_equal(fcntl(f->fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(fallocate(f->fd, FALLOC_FL_KEEP_SIZE, 0, THERE), 0);
	assert_int_equal(io_arena_open(&f->a, f->fd, SIZE), 0);
	assert_int_equal(io_arena_reach(&f->a, 0, SIZE), 0);
	f->at = f->a.core.window[0];
}

static void stop(struct fixture *f)
{
	io_arena_close(&f->a);
	io_arena_watch_close();
	close(f->fd);
}

/* Memory that the file has, which is what the program pays for. */
static uint64_t bytes_of(const struct fixture *f)
{
	struct stat st;

	assert_int_equal(fstat(f->fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void test_there(void **state)
{
	struct fixture fixture, *f = &fixture;
	unsigned before = io_arena_watch_lost();

	(void)state;
	start(f);
	memset(f->at, 1, THERE);
	assert_int_equal(io_arena_watch_lost(), before);
	assert_false(f->a.lost);
	assert_int_equal(bytes_of(f), THERE);
	stop(f);
}

static void test_missing(void **state)
{
	struct fixture fixture, *f = &fixture;
	unsigned before = io_arena_watch_lost();

	(void)state;
	start(f);
	memset(f->at, 1, SIZE - 1);
	assert_true(f->a.lost);
	assert_int_equal(io_arena_watch_lost(), before + 1); /* one arena, however many pages */
	assert_int_equal(bytes_of(f), THERE);
	assert_int_equal(f->at[THERE - 1], 1);
	assert_int_equal(f->at[SIZE - 2], 1);
	stop(f);
}

/* Reading brings a page as well as storing does. */
static void test_read(void **state)
{
	struct fixture fixture, *f = &fixture;
	const volatile uint8_t *at;

	(void)state;
	start(f);
	at = f->at;
	assert_int_equal(at[SIZE - 1], 0);
	assert_true(f->a.lost);
	assert_int_equal(bytes_of(f), THERE);
	stop(f);
}

/* Taken away behind the look at them. */
static void test_taken(void **state)
{
	struct fixture fixture, *f = &fixture;

	(void)state;
	start(f);
	memset(f->at, 1, THERE);
	assert_int_equal(fallocate(f->fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 4096, 4096),
			 0);
	f->at[100] = 2;
	assert_false(f->a.lost);
	f->at[5000] = 2;
	assert_true(f->a.lost);
	assert_int_equal(bytes_of(f), THERE - 4096);
	stop(f);
}

/* Out of an arena into the memory of another program, by a call of the system. */
static void test_call(void **state)
{
	struct fixture fixture, *f = &fixture;
	static uint8_t memory[2 * 65536];
	const struct core_span to = {(uintptr_t)memory, 65536, CORE_SPACE_CLIENT};
	struct iovec from;
	struct io_mem m;

	(void)state;
	start(f);
	from = (struct iovec){f->at + THERE - 4096, 65536};
	assert_int_equal(io_mem_open(&m, open("/proc/self/mem", O_RDWR | O_CLOEXEC), getpid(),
				     IO_MEM_PROC_MEM),
			 0);
	memset(f->at, 7, THERE);
	memset(memory, 1, sizeof(memory));
	assert_int_equal(io_mem_write(&m, &to, 1, &from, 1), 0);
	assert_int_equal(memory[4095], 7);
	assert_int_equal(memory[4096], 0);
	assert_int_equal(memory[65535], 0);
	assert_int_equal(memory[65536], 1);
	assert_true(f->a.lost);
	io_mem_close(&m);
	stop(f);
}

/* Who is not watched pays with us. */
static void test_allowed(void **state)
{
	(void)state;
	if (io_arena_watch_open())
		assert_true(io_arena_watch_allows(-1));
	io_arena_watch_close();
	assert_true(io_arena_watch_allows(getpid()));
	assert_false(io_arena_watch_allows(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there), cmocka_unit_test(test_missing),
		cmocka_unit_test(test_read),  cmocka_unit_test(test_taken),
		cmocka_unit_test(test_call),  cmocka_unit_test(test_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
