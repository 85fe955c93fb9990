/* SPDX-License-Identifier: BSD-2-Clause */
/* What threads wait for, as the kernel shows it. */
#include "provider/hang/thread.h"
#include "tests/support/wire/cmocka_all.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_S 120

static int fd[2]; /* a pipe: who reads waits until it is written to */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void reads(void)
{
	char c;

	assert_int_equal(read(fd[0], &c, 1), 1);
}

static void polls(void)
{
	struct pollfd p = {.fd = fd[0], .events = POLLIN};

	assert_int_equal(poll(&p, 1, -1), 1);
}

static void polls_for_a_time(void)
{
	struct pollfd p = {.fd = fd[0], .events = POLLIN};

	assert_int_equal(poll(&p, 1, DEADLINE_S * 1000), 1);
}

static void selects(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd[0], &set);
	assert_int_equal(select(fd[0] + 1, &set, NULL, NULL, NULL), 1);
}

static void waits_by_epoll(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	int epoll = epoll_create1(0);

	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fd[0], &e), 0);
	assert_int_equal(epoll_wait(epoll, &e, 1, -1), 1);
	close(epoll);
}

static void locks(void)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
}

static void sleeps(void)
{
	struct pollfd p = {.fd = fd[0], .events = POLLIN};
	const struct timespec moment = {.tv_nsec = 10000000};

	while (!poll(&p, 1, 0))
		nanosleep(&moment, NULL);
}

struct way {
	void (*wait)(void);
	enum uhcav_hang_does does;
	bool limited, on_pipe;
	pid_t tid; /* atomic */
};

static void *enter(void *arg)
{
	struct way *w = arg;

	__atomic_store_n(&w->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	w->wait();
	return NULL;
}

static const struct uhcav_hang_thread *find_thread(const struct uhcav_hang_threads *all, pid_t tid)
{
	for (unsigned i = 0; i < all->n; i++)
		if (all->at[i].tid == tid)
			return &all->at[i];
	return NULL;
}

static bool is_as_said(const struct uhcav_hang_thread *t, const struct way *w)
{
	return t && t->does == w->does && t->limited == w->limited &&
	       (!w->on_pipe || (t->n_fds == 1 && t->fds[0] == fd[0]));
}

/* Looks until the thread is seen so, and then a second time: it waits since then. */
static void look_for(struct way *w)
{
	static struct uhcav_hang_threads all;
	const struct uhcav_hang_thread *t = NULL;
	time_t end = time(NULL) + DEADLINE_S;
	pid_t self = (pid_t)syscall(SYS_gettid);

	all.n = 0;
	while (!is_as_said(t, w) && time(NULL) < end) {
		uhcav_hang_threads_look(&all, 1, self, 0);
		t = find_thread(&all, __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE));
	}
	assert_true(is_as_said(t, w));
	assert_true(all.all);
	if (w->does == UHCAV_HANG_RUNS)
		return;
	uhcav_hang_threads_look(&all, 2, self, 0);
	t = find_thread(&all, w->tid);
	assert_non_null(t);
	assert_int_equal(t->since, 1);
}

static void end(pthread_t thread)
{
	char c;

	assert_int_equal(write(fd[1], "", 1), 1);
	pthread_mutex_unlock(&held);
	pthread_join(thread, NULL);
	pthread_mutex_lock(&held);
	if (poll(&(struct pollfd){.fd = fd[0], .events = POLLIN}, 1, 0) == 1)
		assert_int_equal(read(fd[0], &c, 1), 1);
}

static void test_ways(void **state)
{
	struct way ways[] = {{reads, UHCAV_HANG_FILES, false, true, 0},
			     {polls, UHCAV_HANG_FILES, false, true, 0},
			     {polls_for_a_time, UHCAV_HANG_FILES, true, true, 0},
			     {selects, UHCAV_HANG_FILES, false, true, 0},
			     {waits_by_epoll, UHCAV_HANG_FILES, false, true, 0},
			     {locks, UHCAV_HANG_LOCK, false, false, 0},
			     {sleeps, UHCAV_HANG_RUNS, false, false, 0}};
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	pthread_mutex_lock(&held);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		assert_int_equal(pthread_create(&thread, NULL, enter, &ways[i]), 0);
		look_for(&ways[i]);
		end(thread);
	}
	pthread_mutex_unlock(&held);
}

static void sleeps_long(void)
{
	struct timespec t = {.tv_sec = DEADLINE_S};

	nanosleep(&t, NULL);
}

/* Looks at a thread that waits so, until it was seen asleep so often, or is said to nap. */
static bool naps(void (*wait)(void), unsigned looks, uint64_t *ns)
{
	static struct uhcav_hang_threads all;
	const struct uhcav_hang_thread *t = NULL;
	const struct timespec moment = {.tv_nsec = 5000000};
	struct way w = {.wait = wait};
	pid_t self = (pid_t)syscall(SYS_gettid);
	time_t end = time(NULL) + DEADLINE_S;
	pthread_t thread;

	all.n = 0;
	assert_int_equal(pthread_create(&thread, NULL, enter, &w), 0);
	for (unsigned n = 0; n < looks && !(t && t->naps) && time(NULL) < end;
	     n += t && t->sleep_ns > 0) {
		nanosleep(&moment, NULL);
		uhcav_hang_threads_look(&all, 1, self, 0);
		t = find_thread(&all, __atomic_load_n(&w.tid, __ATOMIC_ACQUIRE));
	}
	assert_non_null(t);
	*ns = t->sleep_ns;
	looks = t->naps;
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	return looks;
}

/* A loop that looks and sleeps does not wait for one long time. */
static void test_naps(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_true(naps(sleeps, 10000, &ns));
	assert_int_equal(ns, 10000000);
	assert_false(naps(sleeps_long, 20, &ns));
	assert_int_equal(ns, DEADLINE_S * 1000000000ull);
}

static void reads_and_locks(void)
{
	reads();
	locks();
}

/* What was awaited came behind the look: the thread is elsewhere by now, and waits there. */
static void test_stay(void **state)
{
	static struct uhcav_hang_threads then, now;
	struct way w = {reads_and_locks, UHCAV_HANG_FILES, false, true, 0};
	struct way later = {.does = UHCAV_HANG_LOCK};
	time_t deadline = time(NULL) + DEADLINE_S;
	pid_t self = (pid_t)syscall(SYS_gettid);
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	pthread_mutex_lock(&held);
	assert_int_equal(pthread_create(&thread, NULL, enter, &w), 0);
	look_for(&w);
	uhcav_hang_threads_look(&then, 1, self, 0);
	assert_true(uhcav_hang_threads_stay(&then));
	assert_int_equal(write(fd[1], "", 1), 1);
	do
		uhcav_hang_threads_look(&now, 2, self, 0);
	while (!is_as_said(find_thread(&now, w.tid), &later) && time(NULL) < deadline);
	assert_false(uhcav_hang_threads_stay(&then));
	assert_true(uhcav_hang_threads_stay(&now));
	pthread_mutex_unlock(&held);
	pthread_join(thread, NULL);
	assert_false(uhcav_hang_threads_stay(&now));
}

static void reads_twice(void)
{
	reads();
	reads();
}

/* It has had a byte and reads again, which looks the same: but it was woken. */
static void test_woken(void **state)
{
	static struct uhcav_hang_threads all;
	struct way w = {reads_twice, UHCAV_HANG_FILES, false, true, 0};
	time_t deadline = time(NULL) + DEADLINE_S;
	pid_t self = (pid_t)syscall(SYS_gettid);
	const struct uhcav_hang_thread *t;
	uint64_t before;
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	pthread_mutex_lock(&held);
	assert_int_equal(pthread_create(&thread, NULL, enter, &w), 0);
	look_for(&w);
	all.n = 0;
	uhcav_hang_threads_look(&all, 1, self, 0);
	uhcav_hang_threads_look(&all, 2, self, 0);
	t = find_thread(&all, w.tid);
	assert_int_equal(t->quiet, 1);
	before = t->woken;
	assert_int_equal(write(fd[1], "", 1), 1);
	do {
		uhcav_hang_threads_look(&all, 3, self, 0);
		t = find_thread(&all, w.tid);
	} while ((!is_as_said(t, &w) || t->woken == before) && time(NULL) < deadline);
	assert_int_equal(t->quiet, 3);
	end(thread);
	pthread_mutex_unlock(&held);
}

/* One that has ended is not among them any more. */
static void test_ended(void **state)
{
	static struct uhcav_hang_threads all;
	struct way w = {.wait = reads};
	pid_t self = (pid_t)syscall(SYS_gettid);
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	pthread_mutex_lock(&held);
	assert_int_equal(pthread_create(&thread, NULL, enter, &w), 0);
	end(thread);
	pthread_mutex_unlock(&held);
	uhcav_hang_threads_look(&all, 1, self, 0);
	assert_null(find_thread(&all, w.tid));
}

/* Memory that is not there is an answer. */
static void test_peek(void **state)
{
	int there = 7, copy = 0;

	(void)state;
	assert_true(uhcav_hang_peek((uintptr_t)&there, &copy, sizeof(copy)));
	assert_int_equal(copy, 7);
	assert_false(uhcav_hang_peek(8, &copy, sizeof(copy)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),  cmocka_unit_test(test_naps),
		cmocka_unit_test(test_stay),  cmocka_unit_test(test_woken),
		cmocka_unit_test(test_ended), cmocka_unit_test(test_peek),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
