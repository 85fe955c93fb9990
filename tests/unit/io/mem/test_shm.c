/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared memory: nobody can change a region's size, and the status page cannot be written by who
 * holds its descriptor, while our own mapping stays writable and visible.
 */
#include "emu/io/mem/shm.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void test_shared_and_zeroed(void **state)
{
	struct io_shm shm;
	uint8_t *other;

	(void)state;
	assert_int_equal(io_shm_create(&shm, "t", 5000, false), 0);
	assert_int_equal(shm.size, 8192);
	for (size_t i = 0; i < shm.size; i++)
		assert_int_equal(((uint8_t *)shm.base)[i], 0);
	other = mmap(NULL, shm.size, PROT_READ | PROT_WRITE, MAP_SHARED, shm.fd, 0);
	assert_true(other != MAP_FAILED);
	other[8191] = 42;
	assert_int_equal(((uint8_t *)shm.base)[8191], 42);
	munmap(other, 8192);
	io_shm_destroy(&shm);
}

static void test_size_is_sealed(void **state)
{
	struct io_shm shm;

	(void)state;
	assert_int_equal(io_shm_create(&shm, "t", 4096, false), 0);
	assert_int_equal(ftruncate(shm.fd, 0), -1);
	assert_int_equal(ftruncate(shm.fd, 8192), -1);
	assert_int_equal(fcntl(shm.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	io_shm_destroy(&shm);
}

static void test_read_only(void **state)
{
	struct io_shm shm;
	uint8_t *view;

	(void)state;
	assert_int_equal(io_shm_create(&shm, "t", 4096, true), 0);
	assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shm.fd, 0) == MAP_FAILED);
	assert_int_equal(pwrite(shm.fd, "x", 1, 0), -1);
	view = mmap(NULL, 4096, PROT_READ, MAP_SHARED, shm.fd, 0);
	assert_true(view != MAP_FAILED);
	assert_int_equal(mprotect(view, 4096, PROT_READ | PROT_WRITE), -1);
	((uint8_t *)shm.base)[7] = 9;
	assert_int_equal(view[7], 9);
	munmap(view, 4096);
	io_shm_destroy(&shm);
}

static void test_mapping_outlives_descriptor(void **state)
{
	struct io_shm shm;
	int fd;

	(void)state;
	assert_int_equal(io_shm_create(&shm, "t", 4096, false), 0);
	fd = shm.fd;
	io_shm_drop_fd(&shm);
	assert_int_equal(shm.fd, -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	memset(shm.base, 1, shm.size);
	io_shm_destroy(&shm);
	assert_null(shm.base);
	io_shm_destroy(&shm);
}

static void test_bad_sizes(void **state)
{
	struct io_shm shm;

	(void)state;
	assert_int_equal(io_shm_create(&shm, "t", 0, false), -EINVAL);
	assert_int_equal(io_shm_create(&shm, "t", SIZE_MAX, false), -EINVAL);
	assert_true(io_shm_create(&shm, "t", SIZE_MAX / 4, false) < 0);
	assert_int_equal(shm.fd, -1);
	assert_null(shm.base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_and_zeroed),
		cmocka_unit_test(test_size_is_sealed),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_mapping_outlives_descriptor),
		cmocka_unit_test(test_bad_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
