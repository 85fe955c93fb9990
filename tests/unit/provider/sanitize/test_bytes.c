/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums see each bit; memory that is not there is found and not stumbled over. By copies, and in
 * its place.
 */
#include "provider/crash/crash.h"
#include "provider/page_watch/page_watch.h"
#include "provider/sanitize/bytes.h"

#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

static uint64_t sum(const void *at, size_t n)
{
	uint64_t s;

	assert_true(uhcav_bytes_sum((uintptr_t)at, n, &s));
	return s;
}

static void test_each_bit(void **state)
{
	static const size_t lengths[] = {1, 7, 8, 31, 32, 33, 100};
	uint8_t bytes[100] = {0};

	(void)state;
	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		uint64_t before = sum(bytes, lengths[l]);
		for (size_t bit = 0; bit < 8 * lengths[l]; bit++) {
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_int_not_equal(sum(bytes, lengths[l]), before);
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		assert_int_equal(sum(bytes, lengths[l]), before);
	}
}

static void test_order_and_length(void **state)
{
	static uint8_t large[100000], copy[100000];

	(void)state;
	assert_int_not_equal(sum(large, 64), sum(large, 96));
	large[0] = 1;
	large[32] = 2;
	memcpy(copy, large, sizeof(large));
	assert_int_equal(sum(large, sizeof(large)), sum(copy, sizeof(copy)));
	copy[0] = 2;
	copy[32] = 1;
	assert_int_not_equal(sum(large, sizeof(large)), sum(copy, sizeof(copy)));
	copy[0] = 1;
	copy[32] = 2;
	copy[sizeof(copy) - 1] = 1;
	assert_int_not_equal(sum(large, sizeof(large)), sum(copy, sizeof(copy)));
}

/* The sum of a part says nothing of the others; short and long pieces. */
static void test_parts(void **state)
{
	static const uint64_t lengths[] = {3, 8, 1000, 16384, 16385, 90000};
	static uint8_t bytes[90000];
	uint64_t before[8], after[8], at, n;

	(void)state;
	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		uint64_t end = 0;

		memset(before, 0, sizeof(before));
		assert_true(uhcav_bytes_sums((uintptr_t)bytes, lengths[l], 8, 0, before));
		for (uint32_t i = 0; i < 8; i++) {
			at = uhcav_bytes_part(lengths[l], 8, i, &n);
			end += n;
			if (!n)
				continue;
			bytes[at + n - 1] ^= 0x10;
			memcpy(after, before, sizeof(after));
			assert_true(uhcav_bytes_sums((uintptr_t)bytes, lengths[l], 8, i, after));
			for (uint32_t j = 0; j < 8; j++)
				assert_int_equal(before[j] == after[j], j != i);
			bytes[at + n - 1] ^= 0x10;
		}
		assert_int_equal(end, lengths[l]);
	}
	assert_false(uhcav_bytes_sums(8, 100, 8, 0, before));
}

static void test_not_there(void **state)
{
	uint8_t *at =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uhcav_page_watch_post post = {
		.is_target = true, .at = (uintptr_t)at, .length = PAGE};
	uint64_t s;
	uint32_t name;
	uint8_t byte;

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(munmap(at + PAGE, PAGE), 0);
	errno = EXDEV;
	assert_true(uhcav_bytes_sum((uintptr_t)at, PAGE, &s));
	assert_false(uhcav_bytes_sum((uintptr_t)at, PAGE + 1, &s));
	assert_false(uhcav_bytes_copy((uintptr_t)at + PAGE, 1, &byte));
	assert_int_equal(mprotect(at, PAGE, PROT_NONE), 0);
	assert_false(uhcav_bytes_sum((uintptr_t)at, 8, &s));
	assert_int_equal(mprotect(at, PAGE, PROT_READ | PROT_WRITE), 0);
	name = uhcav_page_watch_begin(&post); /* but what is kept from the program is there */
	assert_true(name && uhcav_page_watch_covers(post.at, 1));
	assert_true(uhcav_bytes_sum((uintptr_t)at, PAGE, &s));
	uhcav_page_watch_end(name);
	assert_false(uhcav_bytes_sum(8, 8, &s));
	assert_int_equal(errno, EXDEV); /* the program's errno is its own */
	assert_int_equal(munmap(at, PAGE), 0);
	assert_int_equal(munmap(at + 2 * PAGE, PAGE), 0);
}

/* A child looks at its own bytes, which differ from its parent's. */
static void test_child(void **state)
{
	static volatile uint8_t ours = 1;
	uint8_t byte;
	int status;
	pid_t child;

	(void)state;
	assert_true(uhcav_bytes_copy((uintptr_t)&ours, 1, &byte));
	child = fork();
	if (child == 0) {
		uhcav_bytes_forget();
		ours = 2;
		_exit(uhcav_bytes_copy((uintptr_t)&ours, 1, &byte) && byte == 2 ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#define PAGES 4u
#define LOOKS 3000u

static atomic_bool over;

static void *come_and_go(void *at)
{
	while (!atomic_load(&over)) {
		mprotect(at, PAGES * PAGE, PROT_NONE);
		mprotect(at, PAGES * PAGE, PROT_READ);
	}
	return NULL;
}

/* Behind the look whether it is there, and in the midst of the sum. */
static void test_goes_meanwhile(void **state)
{
	void *at = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t s, whole = 0;
	pthread_t thread;

	(void)state;
	uhcav_crash_listen(); /* CMocka has a handler of its own for each test */
	assert_true(uhcav_bytes_sum((uintptr_t)at, PAGES * PAGE, &whole));
	assert_int_equal(pthread_create(&thread, NULL, come_and_go, at), 0);
	for (unsigned i = 0; i < LOOKS; i++)
		if (uhcav_bytes_sum((uintptr_t)at, PAGES * PAGE, &s))
			assert_int_equal(s, whole);
	atomic_store(&over, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_null(uhcav_crash_landing);
	munmap(at, PAGES * PAGE);
}

/* Both ways come to the same: a piece may be looked at by one and by the other. */
static void test_same_in_place(void **state)
{
	static uint8_t bytes[40000];
	uint64_t copied, parts[8], again[8];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	copied = sum(bytes + 3, sizeof(bytes) - 3);
	assert_true(uhcav_bytes_sums((uintptr_t)bytes + 3, 1000, 8, 0, parts));
	uhcav_crash_begin(NULL);
	uhcav_bytes_directly();
	assert_int_equal(sum(bytes + 3, sizeof(bytes) - 3), copied);
	assert_true(uhcav_bytes_sums((uintptr_t)bytes + 3, 1000, 8, 0, again));
	assert_memory_equal(parts, again, sizeof(parts));
	assert_true(uhcav_bytes_are_there((uintptr_t)bytes));
	assert_false(uhcav_bytes_are_there(8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_bit), cmocka_unit_test(test_order_and_length),
		cmocka_unit_test(test_parts),    cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_child),
	};
	const struct CMUnitTest in_place[] = {
		cmocka_unit_test(test_same_in_place),    cmocka_unit_test(test_each_bit),
		cmocka_unit_test(test_order_and_length), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_not_there),        cmocka_unit_test(test_goes_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) |
	       cmocka_run_group_tests(in_place, NULL, NULL);
}
