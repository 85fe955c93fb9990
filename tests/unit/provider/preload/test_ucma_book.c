/* SPDX-License-Identifier: BSD-2-Clause */
/* What the preload library remembers of rdma_cm ids: who is told of a removal, and the counts. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/preload/ucma_book.h"

#include <sys/wait.h>
#include <unistd.h>

#define FILE_A 100
#define FILE_B 200
#define FILE_C 300

static uint32_t strike(uint64_t file, uint32_t id)
{
	uint32_t told = 0;

	assert_true(uhca_ucma_book_strike(file, id, &told));
	return told;
}

static void test_counts(void **state)
{
	uint32_t told;

	(void)state;
	uhca_ucma_book_enter(FILE_A, 1, 0x10);
	uhca_ucma_book_enter(FILE_A, 2, 0x20);
	uhca_ucma_book_told(FILE_A, 0x10);
	uhca_ucma_book_told(FILE_A, 0x10);
	uhca_ucma_book_told(FILE_A, 0x99); /* nobody */
	uhca_ucma_book_told(FILE_B, 0x20); /* not of this open */
	assert_false(uhca_ucma_book_strike(FILE_B, 1, &told));
	assert_int_equal(strike(FILE_A, 1), 2);
	assert_int_equal(strike(FILE_A, 2), 0);
	assert_false(uhca_ucma_book_strike(FILE_A, 1, &told));
}

/* A group's events are acknowledged to its id, too. */
static void test_groups(void **state)
{
	uint32_t id;
	uint64_t uid;

	(void)state;
	uhca_ucma_book_enter(FILE_A, 1, 0x10);
	uhca_ucma_book_device(1);
	uhca_ucma_book_enter_group(FILE_A, 1, 2, 0x20);
	uhca_ucma_book_told(FILE_A, 0x20);
	uhca_ucma_book_enter(FILE_B, 1, 0); /* migrates, with its group */
	assert_false(uhca_ucma_book_removal(FILE_A, &id, &uid));
	assert_int_equal(strike(FILE_B, 2), 1);
	assert_int_equal(strike(FILE_B, 1), 1);
}

static void test_removal(void **state)
{
	uint32_t id;
	uint64_t uid;

	(void)state;
	uhca_ucma_book_enter(FILE_A, 1, 0x10);
	uhca_ucma_book_enter(FILE_B, 2, 0x20);
	uhca_ucma_book_enter(FILE_A, 3, 0);    /* the program does not know it yet */
	uhca_ucma_book_enter(FILE_A, 4, 0x40); /* has no device: listens at any address */
	for (uint32_t i = 1; i <= 3; i++)
		uhca_ucma_book_device(i);
	uhca_ucma_book_device(99); /* nobody */
	assert_true(uhca_ucma_book_removal(FILE_A, &id, &uid));
	assert_int_equal(id, 1);
	assert_int_equal(uid, 0x10);
	assert_false(uhca_ucma_book_removal(FILE_A, &id, &uid)); /* each hears it once */
	uhca_ucma_book_told(FILE_A, uid);
	assert_int_equal(strike(FILE_A, 1), 1);
	uhca_ucma_book_device(4);
	assert_true(uhca_ucma_book_has_removal(FILE_A));
	uhca_ucma_book_move(FILE_A, FILE_C); /* another number, the same ids */
	assert_false(uhca_ucma_book_has_removal(FILE_A));
	assert_true(uhca_ucma_book_removal(FILE_C, &id, &uid));
	assert_int_equal(id, 4);
	assert_false(uhca_ucma_book_has_removal(FILE_C));
	strike(FILE_C, 3);
	strike(FILE_C, 4);
	strike(FILE_B, 2);
}

/* More than the table's first room; a forked process has them all, and its own from then on. */
static void test_many(void **state)
{
	int status;
	pid_t child;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		uhca_ucma_book_enter(FILE_A, i, 1 + i);
	child = fork();
	if (child == 0) {
		for (uint32_t i = 0; i < 1000; i++)
			strike(FILE_A, i);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(strike(FILE_A, i), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
