/* SPDX-License-Identifier: BSD-2-Clause */
/* Which processes and which ranges may have their pages replaced. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/pin/policy.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE ((size_t)256 << 10)
#define RW   (PROT_READ | PROT_WRITE)

static enum uhca_abi_borrowed of_process(enum uhca_abi_pin mode, unsigned own,
					 enum uhcav_stop *stop)
{
	*stop = UHCAV_STOP_UNKNOWN;
	return uhcav_policy_process(mode, own, stop);
}

static void test_alone(void **state)
{
	enum uhcav_stop stop;
	int before, after;

	(void)state;
	before = dup(0); /* the lowest number that is free */
	close(before);
	assert_int_equal(of_process(UHCA_ABI_PIN_SAFE, 0, &stop), 0);
	assert_int_equal(stop, UHCAV_STOP_NONE);
	after = dup(0);
	close(after);
	assert_int_equal(before, after); /* what was asked is closed */
}

static void *wait_there(void *arg)
{
	pthread_barrier_wait(arg);
	pthread_barrier_wait(arg);
	return NULL;
}

/* Threads that are not ours are to be stopped, where the system lets us. */
static void test_threads(void **state)
{
	enum uhcav_stop best = uhcav_stop_for_threads(), stop;
	pthread_barrier_t barrier;
	pthread_t thread;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, wait_there, &barrier), 0);
	pthread_barrier_wait(&barrier);
	assert_int_equal(of_process(UHCA_ABI_PIN_SAFE, 1, &stop), 0); /* it is ours */
	assert_int_equal(stop, UHCAV_STOP_NONE);
	assert_int_equal(of_process(UHCA_ABI_PIN_SAFE, 0, &stop),
			 best == UHCAV_STOP_ALL ? 0 : UHCA_ABI_BORROWED_THREADS);
	assert_int_equal(of_process(UHCA_ABI_PIN_ALL, 0, &stop),
			 best == UHCAV_STOP_UNKNOWN ? UHCA_ABI_BORROWED_THREADS : 0);
	assert_int_equal(stop, best);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
}

static void test_who_holds_pages(void **state)
{
	struct io_uring_params params = {0};
	aio_context_t aio = 0;
	enum uhcav_stop stop;
	int fd = (int)syscall(SYS_io_uring_setup, 4, &params);

	(void)state;
	if (fd >= 0) {
		assert_int_equal(of_process(UHCA_ABI_PIN_ALL, 0, &stop),
				 UHCA_ABI_BORROWED_DESCRIPTORS);
		close(fd);
	}
	if (!syscall(SYS_io_setup, 4, &aio)) {
		assert_int_equal(of_process(UHCA_ABI_PIN_ALL, 0, &stop),
				 UHCA_ABI_BORROWED_DESCRIPTORS);
		syscall(SYS_io_destroy, aio);
	}
	assert_int_equal(of_process(UHCA_ABI_PIN_ALL, 0, &stop), 0);
}

static bool not_forked;

static enum uhca_abi_borrowed of_range(const void *at)
{
	return uhcav_policy_range((uintptr_t)at, (uintptr_t)at + SIZE, &not_forked);
}

/* A range with this in its midst. */
static enum uhca_abi_borrowed around(const void *at)
{
	return uhcav_policy_range((uintptr_t)at - SIZE / 2, (uintptr_t)at + SIZE / 2, &not_forked);
}

static void test_ranges(void **state)
{
	char *p = mmap(NULL, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long nodes = 1;

	(void)state;
	assert_true(p != MAP_FAILED);
	assert_int_equal(of_range(p), 0);
	/* AddressSanitizer keeps variables elsewhere. */
	assert_int_equal(around(__builtin_frame_address(0)), UHCA_ABI_BORROWED_STACK);
	assert_int_equal(around(&errno), UHCA_ABI_BORROWED_STACK);
	if (!syscall(SYS_mbind, p, SIZE, 2 /* MPOL_BIND */, &nodes, 64ul, 0u))
		assert_int_equal(of_range(p), UHCA_ABI_BORROWED_ADVISED);
	munmap(p, SIZE);
	p = mmap(NULL, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(of_range(p), 0);
	assert_false(not_forked);
	assert_int_equal(madvise(p, SIZE, MADV_DONTFORK), 0);
	assert_int_equal(of_range(p), 0);
	assert_true(not_forked);
	assert_int_equal(madvise(p, SIZE, MADV_DONTDUMP), 0);
	assert_int_equal(of_range(p), UHCA_ABI_BORROWED_ADVISED);
	munmap(p, SIZE);
	p = mmap(NULL, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!syscall(SYS_mlock, p, 4096)) /* not the sanitizers' */
		assert_int_equal(of_range(p), UHCA_ABI_BORROWED_LOCKED);
	munmap(p, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_who_holds_pages),
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
