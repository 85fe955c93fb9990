/* SPDX-License-Identifier: BSD-2-Clause */
/* The arena: pieces and gaps, who uses them, and when their memory goes back to the system. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/pin/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE (1u << 20)
#define RW   (PROT_READ | PROT_WRITE)

static uint64_t blocks(void)
{
	struct stat st;

	assert_int_equal(fstat(uhcav_arena_fd(), &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static char *map(uint64_t offset)
{
	char *p = mmap(NULL, SIZE, RW, MAP_SHARED, uhcav_arena_fd(), (off_t)offset);

	assert_true(p != MAP_FAILED);
	memset(p, 1, SIZE);
	return p;
}

static void test_file(void **state)
{
	struct rlimit few, was;
	int fd;

	(void)state;
	assert_false(uhcav_arena_is_used());
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	few = (struct rlimit){SIZE, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	assert_int_equal(uhcav_arena_fd(), -EFBIG); /* and not SIGXFSZ */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_false(uhcav_arena_is_used());
	fd = uhcav_arena_fd();
	assert_true(fd >= 0);
	assert_int_equal(uhcav_arena_fd(), fd);
	assert_true(uhcav_arena_is_used());
	assert_true(uhcav_arena_size() >= 16ull << 30);
	assert_true(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
}

/* A piece goes back when no region is in it and no mapping is left, whichever is the later. */
static void test_pieces(void **state)
{
	uint64_t a, b, c;
	char *p;

	(void)state;
	assert_int_equal(uhcav_arena_take(0, SIZE, &a), 0);
	assert_int_equal(uhcav_arena_take(0, SIZE, &b), 0);
	assert_true(a + SIZE <= b || b + SIZE <= a);
	p = map(a);
	uhcav_arena_hold(a + 4096, 4096);
	uhcav_arena_release(a, SIZE);
	uhcav_arena_sweep();
	assert_int_equal(blocks(), SIZE);
	uhcav_arena_release(a + 4096, 4096); /* no region, but the program has it */
	uhcav_arena_sweep();
	assert_int_equal(blocks(), SIZE);
	assert_int_equal(munmap(p, SIZE / 2), 0); /* half of it */
	uhcav_arena_sweep();
	assert_int_equal(blocks(), SIZE);
	assert_int_equal(munmap(p + SIZE / 2, SIZE / 2), 0);
	uhcav_arena_sweep();
	assert_int_equal(blocks(), 0);
	assert_int_equal(uhcav_arena_take(0, SIZE, &c), 0); /* the gap */
	assert_int_equal(c, a);
	p = map(c);
	munmap(p, SIZE); /* a region is in it: the device has the pages */
	uhcav_arena_sweep();
	assert_int_equal(blocks(), SIZE);
	uhcav_arena_release(c, SIZE);
	uhcav_arena_release(b, SIZE);
	uhcav_arena_sweep();
	assert_int_equal(blocks(), 0);
}

/* What nobody has is taken over with the memory that is there; the rest of it goes back. */
static void test_taken_over(void **state)
{
	uint64_t a, b, c;
	char *p;

	(void)state;
	assert_int_equal(uhcav_arena_take(0, SIZE, &a), 0);
	assert_int_equal(uhcav_arena_take(0, SIZE, &b), 0);
	munmap(map(a), SIZE);
	p = map(b); /* this one the program still has */
	uhcav_arena_release(a, SIZE);
	uhcav_arena_release(b, SIZE);
	assert_int_equal(uhcav_arena_take(0, 2 * SIZE, &c), 0); /* longer than what is left */
	assert_int_equal(c, b + SIZE);
	assert_int_equal(blocks(), SIZE);
	uhcav_arena_release(c, 2 * SIZE);
	munmap(p, SIZE);
	assert_int_equal(uhcav_arena_take(0, SIZE / 2, &c), 0);
	assert_int_equal(c, b);
	assert_int_equal(blocks(), SIZE / 2);
	assert_int_equal(uhcav_arena_take(0, SIZE / 2, &a), 0); /* nobody has two */
	assert_int_not_equal(a, c);
	uhcav_arena_release(a, SIZE / 2);
	uhcav_arena_release(c, SIZE / 2);
	uhcav_arena_sweep();
	assert_int_equal(blocks(), 0);
}

/* All pages of a piece are brought once; one that is taken over may have lost some meanwhile. */
static void test_brought(void **state)
{
	const int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	uint64_t a, b;

	(void)state;
	assert_int_equal(uhcav_arena_take(0, SIZE, &a), 0);
	assert_true(uhcav_arena_bring(a, SIZE / 2, false));
	assert_int_equal(blocks(), SIZE / 2);
	assert_true(uhcav_arena_bring(a, SIZE, false));
	assert_int_equal(blocks(), SIZE);
	assert_true(uhcav_arena_bring(a, SIZE, false)); /* and not again */
	uhcav_arena_release(a, SIZE);
	assert_int_equal(uhcav_arena_take(0, SIZE, &b), 0);
	assert_int_equal(a, b);
	assert_int_equal(fallocate(uhcav_arena_fd(), punch, (off_t)b, SIZE / 2), 0);
	assert_true(uhcav_arena_bring(b, SIZE, false));
	assert_int_equal(blocks(), SIZE);
	uhcav_arena_release(b, SIZE);
	uhcav_arena_sweep();
	assert_int_equal(blocks(), 0);
}

/* Reading all mappings is worth a MiB: what is less waits, and goes when there is enough. */
static void test_little_waits(void **state)
{
	uint64_t a, b;

	(void)state;
	assert_int_equal(uhcav_arena_take(0, SIZE / 4, &a), 0);
	munmap(map(a), SIZE);
	assert_int_equal(blocks(), SIZE);
	uhcav_arena_release(a, SIZE / 4);
	uhcav_arena_sweep();
	assert_int_equal(blocks(), SIZE);
	assert_int_equal(uhcav_arena_take(0, SIZE * 3 / 4, &b), 0);
	assert_int_equal(b, a + SIZE / 4);
	uhcav_arena_release(b, SIZE * 3 / 4);
	uhcav_arena_sweep();
	assert_int_equal(blocks(), 0);
}

static void test_neighbours(void **state)
{
	uint64_t a, b;

	(void)state;
	assert_int_equal(uhcav_arena_take(0, SIZE, &a), 0);
	assert_int_equal(uhcav_arena_take(0, SIZE, &b), 0);
	assert_int_equal(a + SIZE, b);
	uhcav_arena_hold(a + SIZE / 2, SIZE); /* one extent in both */
	uhcav_arena_release(a, SIZE);
	uhcav_arena_release(b, SIZE);
	munmap(map(a), SIZE);
	munmap(map(b), SIZE);
	uhcav_arena_sweep();
	assert_int_equal(blocks(), 2 * SIZE);
	uhcav_arena_release(a + SIZE / 2, SIZE);
	uhcav_arena_sweep();
	assert_int_equal(blocks(), 0);
	assert_int_equal(uhcav_arena_take(0, uhcav_arena_size() + 4096, &a), -ENOSPC);
}

/* The number belongs to another file now: that is not ours to make holes in. */
static void test_closed_by_program(void **state)
{
	uint64_t a;
	char *p;
	int fd = uhcav_arena_fd(), other;

	(void)state;
	assert_int_equal(uhcav_arena_take(0, SIZE, &a), 0);
	p = map(a);
	other = memfd_create("other", 0);
	assert_int_equal(ftruncate(other, SIZE), 0);
	assert_int_equal(pwrite(other, "there", 6, 0), 6);
	assert_int_equal(dup2(other, fd), fd);
	assert_int_equal(uhcav_arena_fd(), -EBADF);
	munmap(p, SIZE);
	uhcav_arena_release(a, SIZE);
	uhcav_arena_sweep();
	char left[6];
	assert_int_equal(pread(other, left, 6, 0), 6);
	assert_string_equal(left, "there");
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_taken_over),
		cmocka_unit_test(test_brought),
		cmocka_unit_test(test_little_waits),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_closed_by_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
