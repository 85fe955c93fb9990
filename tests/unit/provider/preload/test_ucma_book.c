/* SPDX-License-Identifier: BSD-2-Clause */
/* What the preload library remembers of rdma_cm ids: who is events of a removal, and the counts. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/preload/ucma_book.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_A 100
#define FILE_B 200
#define FILE_C 300

static uint32_t strike(uint64_t file, uint32_t id)
{
	uint32_t events = 0;

	assert_true(uhca_ucma_book_strike(file, id, &events));
	return events;
}

static void test_counts(void **state)
{
	uint32_t events;

	(void)state;
	uhca_ucma_book_enter(FILE_A, 1, 0x10);
	uhca_ucma_book_enter(FILE_A, 2, 0x20);
	uhca_ucma_book_count_event(FILE_A, 0x10);
	uhca_ucma_book_count_event(FILE_A, 0x10);
	uhca_ucma_book_count_event(FILE_A, 0x99); /* nobody */
	uhca_ucma_book_count_event(FILE_B, 0x20); /* not of this open */
	assert_false(uhca_ucma_book_strike(FILE_B, 1, &events));
	assert_int_equal(strike(FILE_A, 1), 2);
	assert_int_equal(strike(FILE_A, 2), 0);
	assert_false(uhca_ucma_book_strike(FILE_A, 1, &events));
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
	uhca_ucma_book_count_event(FILE_A, 0x20);
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
	uhca_ucma_book_count_event(FILE_A, uid);
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

/* Who goes to another open of the device takes its own groups along, its name and what it heard. */
static void test_migration(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 2; i++) {
		uhca_ucma_book_enter(FILE_A, i, 0x10 * i);
		uhca_ucma_book_enter_group(FILE_A, i, 2 + i, 0x100 * i);
	}
	uhca_ucma_book_enter(FILE_B, 1, 0);
	uhca_ucma_book_count_event(FILE_A, 0x10); /* not there any more */
	uhca_ucma_book_count_event(FILE_B, 0x10);
	uhca_ucma_book_count_event(FILE_B, 0x100);
	uhca_ucma_book_count_event(FILE_A, 0x200);
	assert_int_equal(strike(FILE_B, 1), 2);
	assert_int_equal(strike(FILE_B, 3), 1);
	assert_int_equal(strike(FILE_A, 2), 1);
	assert_int_equal(strike(FILE_A, 4), 1);
}

/* An id of a request has its name when it is accepted; an id whose group is all that is left. */
static void test_names(void **state)
{
	(void)state;
	uhca_ucma_book_enter(FILE_A, 5, 0);
	uhca_ucma_book_count_event(FILE_A, 0x50);
	uhca_ucma_book_enter(FILE_A, 5, 0x50);
	uhca_ucma_book_count_event(FILE_A, 0x50);
	uhca_ucma_book_enter_group(FILE_A, 5, 6, 0x60);
	assert_int_equal(strike(FILE_A, 5), 1);
	uhca_ucma_book_count_event(FILE_A, 0x60);
	assert_int_equal(strike(FILE_A, 6), 1);
}

#define LAPS 20000u

static void *come_and_go(void *arg)
{
	const uint64_t file = *(const uint64_t *)arg;
	uint32_t events, wrong = 0;

	for (uint32_t i = 0; i < LAPS; i++) {
		uint32_t id = (uint32_t)file * LAPS + i;

		uhca_ucma_book_enter(file, id, 1 + i);
		uhca_ucma_book_count_event(file, 1 + i);
		wrong += !uhca_ucma_book_strike(file, id, &events) || events != 1;
	}
	return (void *)(uintptr_t)wrong;
}

/* Threads do not meet in the book. */
static void test_threads(void **state)
{
	static const uint64_t file[] = {1, 2, 3};
	pthread_t t[3];
	void *wrong;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(
			pthread_create(&t[i], NULL, come_and_go, (void *)(uintptr_t)&file[i]), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(t[i], &wrong), 0);
		assert_null(wrong);
	}
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
		cmocka_unit_test(test_counts),  cmocka_unit_test(test_groups),
		cmocka_unit_test(test_removal), cmocka_unit_test(test_migration),
		cmocka_unit_test(test_names),   cmocka_unit_test(test_threads),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
