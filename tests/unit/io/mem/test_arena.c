/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arena that a client hands over: what is taken for one, and what could end the daemon is not.
 */
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/cmd.h"
#include "emu/io/mem/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SIZE (1u << 20)

static int file(off_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int try_open(int fd, uint64_t size)
{
	struct io_arena a;
	int err = io_arena_open(&a, fd, size);

	assert_int_equal(err == 0, a.open);
	io_arena_close(&a);
	assert_false(a.open);
	close(fd);
	return err;
}

static void test_which_are_right(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(try_open(file(SIZE, F_SEAL_SHRINK), SIZE), 0);
	assert_int_equal(try_open(file(2 * SIZE, F_SEAL_SHRINK | F_SEAL_GROW), SIZE), 0);
	assert_int_equal(try_open(file(SIZE, F_SEAL_SHRINK), 0), -EINVAL);
	assert_int_equal(try_open(file(SIZE, F_SEAL_SHRINK), SIZE + 4096), -EINVAL);
	assert_int_equal(try_open(file(SIZE, F_SEAL_SHRINK), UHCA_ABI_MAX_ARENA + 1), -EINVAL);
	assert_int_equal(try_open(file(SIZE, F_SEAL_GROW), SIZE), -EINVAL); /* may shrink */
	assert_int_equal(try_open(file(SIZE, F_SEAL_SHRINK | F_SEAL_WRITE), SIZE), -EINVAL);
	fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	assert_int_equal(try_open(fd, SIZE), -EINVAL);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(try_open(fd, 4096), -EINVAL);
}

/* What stands there is the file's, also when the caller's descriptor is gone. */
static void test_mapped(void **state)
{
	int fd = file(SIZE, F_SEAL_SHRINK);
	char *mine = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct io_arena a;

	(void)state;
	assert_true(mine != MAP_FAILED);
	assert_int_equal(io_arena_open(&a, fd, SIZE), 0);
	close(fd);
	assert_int_equal(a.core.size, SIZE);
	assert_null(a.core.window[0]);
	assert_int_equal(io_arena_reach(&a, SIZE - 1, 1), 0);
	strcpy(mine + SIZE - 10, "there");
	assert_string_equal((char *)a.core.window[0] + SIZE - 10, "there");
	io_arena_close(&a);
	munmap(mine, SIZE);
}

/* Of a long file as much is mapped as is reached, and all that is mapped is counted. */
static void test_windows(void **state)
{
	uint64_t size = 3 * CORE_ARENA_WINDOW + 8192;
	int fd = file((off_t)size, F_SEAL_SHRINK);
	struct io_arena a, b;

	(void)state;
	assert_int_equal(io_arena_open(&a, fd, size), 0);
	assert_int_equal(io_arena_open(&b, fd, size), 0);
	close(fd);
	assert_int_equal(io_arenas_mapped(), 0);
	assert_int_equal(io_arena_missing(&a, CORE_ARENA_WINDOW - 1, 1), CORE_ARENA_WINDOW);
	assert_int_equal(io_arena_missing(&a, CORE_ARENA_WINDOW - 1, 2), 2 * CORE_ARENA_WINDOW);
	assert_int_equal(io_arena_missing(&a, CORE_ARENA_WINDOW, 0), 0);
	assert_int_equal(io_arena_reach(&a, CORE_ARENA_WINDOW, 10), 0);
	assert_null(a.core.window[0]);
	assert_non_null(a.core.window[1]);
	assert_int_equal(io_arena_missing(&a, CORE_ARENA_WINDOW - 1, 2), CORE_ARENA_WINDOW);
	assert_int_equal(io_arena_reach(&b, 3 * CORE_ARENA_WINDOW + 1, 1), 0);
	assert_int_equal(b.mapped, 8192);
	assert_int_equal(io_arenas_mapped(), CORE_ARENA_WINDOW + 8192);
	io_arena_close(&a);
	assert_int_equal(io_arenas_mapped(), 8192);
	io_arena_close(&b);
	assert_int_equal(io_arenas_mapped(), 0);
}

/* Where the addresses of the daemon are limited, arenas leave most of them to the rest. */
static void test_most(void **state)
{
	struct rlimit before, few;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	if (before.rlim_cur == RLIM_INFINITY)
		assert_int_equal(io_arenas_most(), UINT64_C(1) << 45);
	few = (struct rlimit){UINT64_C(1) << 40, before.rlim_max};
	if (setrlimit(RLIMIT_AS, &few)) /* sanitizers have more already, which is no matter */
		fail_msg("setrlimit: %s", strerror(errno));
	assert_int_equal(io_arenas_most(), UINT64_C(1) << 38);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_are_right),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
