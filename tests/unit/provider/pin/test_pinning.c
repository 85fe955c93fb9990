/* SPDX-License-Identifier: BSD-2-Clause */
/* The lock of pinning: who has it is not cancelled in the midst of pages. */
#include "provider/pin/lock.h"
#include "provider/pin/pin.h"
#include "tests/support/wire/cmocka_all.h"

#include <pthread.h>

static void *lock_cancelled(void *passed)
{
	pthread_cancel(pthread_self());
	uhcav_pinning_lock();
	pthread_testcancel();
	++*(int *)passed;
	uhcav_pinning_unlock();
	if (uhcav_pinning_lock_soon()) {
		pthread_testcancel();
		++*(int *)passed;
		uhcav_pinning_unlock();
	}
	pthread_testcancel();
	++*(int *)passed;
	return NULL;
}

static void test_cancelled(void **state)
{
	pthread_t thread;
	int passed = 0;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, lock_cancelled, &passed), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(passed, 2);
	assert_true(uhcav_pinning_lock_soon());
	uhcav_pinning_unlock();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cancelled)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
