/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that looks for hangs. See watchdog.h. */
#include "watchdog.h"

#include "asks.h"
#include "hang.h"
#include "judge.h"
#include "picture.h"
#include "provider/base/base.h"
#include "provider/context/context.h"
#include "report.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_MS 3000u
#define TICKS      6u /* in that time */
#define GIVING_UP  6u /* a program that fails has not waited as long: so many parts of it */
#define TICK_MIN   20u
#define STACK      (256u * 1024)

static bool on, started; /* started: under the lock */
pthread_mutex_t uhcav_hang_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uhcav_hang_threads threads; /* under the book's lock, and so is "after" */
static uint64_t after;                    /* a standstill of so many ms; 0: nothing is looked at */

bool uhcav_hang_is_on(void)
{
	return on;
}

static bool any_check(void)
{
	static const enum uhca_check checks[] = {
		UHCA_CHECK_LOST_WAKEUP,    UHCA_CHECK_WAIT_UNARMED, UHCA_CHECK_POLL_NOTHING,
		UHCA_CHECK_PEER_WAITS,     UHCA_CHECK_PEER_GONE,    UHCA_CHECK_PEER_UNREADY,
		UHCA_CHECK_EVENTS_UNACKED, UHCA_CHECK_CM_UNREAD,    UHCA_CHECK_CM_UNANSWERED,
		UHCA_CHECK_PEER_ELSEWHERE};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (uhcav_check_on(checks[i]))
			return true;
	return false;
}

void uhcav_hang_begin(void)
{
	on = any_check();
}

static void sleep_ms(uint64_t ms)
{
	struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

static void look_for_end(uint64_t now)
{
	const struct uhcav_hang_thread *t = uhcav_hang_judge_end(&threads, now, after / GIVING_UP);

	if (t)
		uhcav_hang_suspect(t, now);
}

/* With it goes what is known of its queues, and the last tick may be long ago. */
void uhcav_hang_qp_ends(const struct uhcav_qp *qp)
{
	const uint64_t now = uhcav_now_ms();

	if (!started || !after)
		return;
	if (uhcav_hang_look_at_polled(qp, now))
		look_for_end(now);
}

void uhcav_hang_exits(bool fails)
{
	const uint64_t now = uhcav_now_ms();

	if (!started)
		return;
	pthread_mutex_lock(&uhcav_hang_book_lock);
	uhcav_hang_judge_overflow();
	if (fails && after) { /* the last tick may be long ago */
		uhcav_hang_look(now);
		look_for_end(now);
		uhcav_hang_report_given_up(now);
	}
	pthread_mutex_unlock(&uhcav_hang_book_lock);
}

static void *watch(void *arg)
{
	const uint64_t ms = uhcav_diagnostic_setting("hang_after", DEFAULT_MS);
	const uint64_t tick = ms / TICKS > TICK_MIN ? ms / TICKS : TICK_MIN;
	const pid_t self = (pid_t)syscall(SYS_gettid);
	uint64_t now;

	(void)arg;
	uhcav_hang_asks_not_by_me();
	pthread_mutex_lock(&uhcav_hang_book_lock);
	threads.n = 0;
	after = ms;
	pthread_mutex_unlock(&uhcav_hang_book_lock);
	while (ms) {
		sleep_ms(tick);
		now = uhcav_now_ms();
		pthread_mutex_lock(&uhcav_hang_book_lock);
		uhcav_hang_threads_look(&threads, now, self, uhcav_monitor_thread());
		uhcav_hang_judge_destroy(&threads, now, after);
		uhcav_hang_look(now);
		uhcav_hang_judge_overflow();
		uhcav_hang_judge(&threads, now, after);
		uhcav_hang_picture(&threads, now, after);
		look_for_end(now);
		pthread_mutex_unlock(&uhcav_hang_book_lock);
	}
	return NULL;
}

/* All signals blocked: handlers of the program do not run on a thread it does not know. */
static void start(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	started = !pthread_create(&thread, &attr, watch, NULL);
	uhcav_monitor_beside(started);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
}

void uhcav_hang_watch(void)
{
	pthread_mutex_lock(&uhcav_hang_lock);
	if (!started)
		start();
	pthread_mutex_unlock(&uhcav_hang_lock);
}

void uhcav_hang_device_used(void)
{
	if (on)
		uhcav_hang_watch();
}

void uhcav_hang_watch_forget(void)
{
	started = false;
	uhcav_monitor_beside(0);
}
