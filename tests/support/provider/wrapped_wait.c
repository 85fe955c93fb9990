/* SPDX-License-Identifier: BSD-2-Clause */
#include "wrapped_wait.h"

#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

struct wrapped_wait wrapped = {
	.now = 1000 * MSEC, .yield_takes = 1 * USEC, .sleep_takes = 57 * USEC};

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_sched_yield(void);
int __wrap_nanosleep(const struct timespec *t, struct timespec *rest);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	t->tv_sec = (time_t)(wrapped.now / (1000 * MSEC));
	t->tv_nsec = (long)(wrapped.now % (1000 * MSEC));
	return 0;
}

int __wrap_sched_yield(void)
{
	wrapped.yields++;
	wrapped.now += wrapped.yield_takes;
	return 0;
}

/* One that a signal interrupts: its errno is not the caller's. */
int __wrap_nanosleep(const struct timespec *t, struct timespec *rest)
{
	int cancel_state;

	assert_true(t->tv_sec == 0 && t->tv_nsec <= (long)USEC);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	assert_int_equal(cancel_state, PTHREAD_CANCEL_DISABLE); /* a lock may be held */
	assert_null(rest);
	wrapped.sleeps++;
	wrapped.now += wrapped.sleep_takes;
	errno = EINTR;
	return -1;
}
