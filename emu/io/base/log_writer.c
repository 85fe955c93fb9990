/* SPDX-License-Identifier: BSD-2-Clause */
/* The log's thread: writes lines from a ring buffer, so that the loop never waits. */
#include "log_writer.h"

#include "clock.h"
#include "thread.h"

#include <pthread.h>
#include <string.h>

struct head {
	unsigned kind, len;
};

enum state { NOT_THERE, THERE, ENDING, ENDED, LOST };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	const struct log_writer_ops *ops;
	enum state state;
	bool busy, reopen;
	unsigned left_out, held;
	uint64_t held_reported; /* when, wall clock; 0: never */
	size_t head, tail;      /* bytes since the beginning; [tail, head) waits */
	char ring[LOG_WRITER_ROOM];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER,
	 .work = PTHREAD_COND_INITIALIZER,
	 .done = PTHREAD_COND_INITIALIZER};

/* ---- the ring; the lock is held ---- */

static void copy_in(const void *from, size_t n)
{
	size_t at = all.head % LOG_WRITER_ROOM;
	size_t first = n < LOG_WRITER_ROOM - at ? n : LOG_WRITER_ROOM - at;

	memcpy(all.ring + at, from, first);
	memcpy(all.ring, (const char *)from + first, n - first);
	all.head += n;
}

static void copy_out(void *to, size_t n)
{
	size_t at = all.tail % LOG_WRITER_ROOM;
	size_t first = n < LOG_WRITER_ROOM - at ? n : LOG_WRITER_ROOM - at;

	memcpy(to, all.ring + at, first);
	memcpy((char *)to + first, all.ring, n - first);
	all.tail += n;
}

static bool is_idle(void)
{
	return !all.busy && !all.reopen && all.left_out == 0 && all.head == all.tail;
}

/* ---- the thread ---- */

static bool must_report_held(void)
{
	return all.held > 0 &&
	       (all.state != THERE || io_clock_wall() - all.held_reported >= IO_SEC);
}

/* What is to be done next. What was left out is told of when the lines before it are written. */
struct next {
	unsigned kind;
	size_t len; /* of the line; 0: none */
	unsigned left_out, held;
	bool reopen;
};

static struct next log_line_take(char line[LOG_WRITER_LINE])
{
	struct next n = {0};
	struct head h;

	n.reopen = all.reopen;
	all.reopen = false;
	if (!n.reopen && all.head != all.tail) {
		copy_out(&h, sizeof(h));
		copy_out(line, h.len);
		n.kind = h.kind;
		n.len = h.len;
		return n;
	}
	if (n.reopen)
		return n;
	n.left_out = all.left_out;
	all.left_out = 0;
	if (must_report_held()) {
		n.held = all.held;
		all.held = 0;
		all.held_reported = io_clock_wall();
	}
	return n;
}

static void work_once(void)
{
	char line[LOG_WRITER_LINE];
	const struct next n = log_line_take(line);

	all.busy = true;
	pthread_mutex_unlock(&all.lock);
	if (n.len > 0)
		all.ops->write(n.kind, line, n.len);
	if (n.left_out > 0)
		all.ops->left_out(n.left_out);
	if (n.held > 0)
		all.ops->held(n.held);
	if (n.reopen)
		all.ops->reopen();
	pthread_mutex_lock(&all.lock);
	all.busy = false;
}

/* The wall clock's time as pthread_cond_timedwait(3) wants it. */
static struct timespec moment(uint64_t wall)
{
	return (struct timespec){.tv_sec = (time_t)(wall / IO_SEC),
				 .tv_nsec = (long)(wall % IO_SEC)};
}

static void wait_for_work(void)
{
	const struct timespec later = moment(all.held_reported + IO_SEC);

	if (all.held > 0)
		pthread_cond_timedwait(&all.work, &all.lock, &later);
	else
		pthread_cond_wait(&all.work, &all.lock);
}

static void *run(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&all.lock);
	for (;;) {
		while (!is_idle() || must_report_held())
			work_once();
		pthread_cond_broadcast(&all.done);
		if (all.state != THERE)
			break;
		wait_for_work();
	}
	all.state = ENDED;
	pthread_cond_broadcast(&all.done);
	pthread_mutex_unlock(&all.lock);
	return NULL;
}

/* ---- who writes ---- */

int log_writer_begin(const struct log_writer_ops *ops)
{
	int error;

	if (all.state != NOT_THERE)
		return 0;
	all.ops = ops;
	all.state = THERE;
	error = io_thread_start(run, NULL);
	if (error < 0)
		all.state = NOT_THERE;
	return error;
}

bool log_writer_is_there(void)
{
	bool is;

	pthread_mutex_lock(&all.lock);
	is = all.state != NOT_THERE;
	pthread_mutex_unlock(&all.lock);
	return is;
}

void log_writer_put(unsigned kind, const char *line, size_t len)
{
	const struct head h = {kind, (unsigned)len};

	pthread_mutex_lock(&all.lock);
	if (LOG_WRITER_ROOM - (all.head - all.tail) >= sizeof(h) + len && all.state == THERE) {
		copy_in(&h, sizeof(h));
		copy_in(line, len);
	} else {
		all.left_out++;
	}
	pthread_cond_signal(&all.work);
	pthread_mutex_unlock(&all.lock);
}

void log_writer_hold(void)
{
	pthread_mutex_lock(&all.lock);
	if (all.held++ == 0)
		pthread_cond_signal(&all.work);
	pthread_mutex_unlock(&all.lock);
}

void log_writer_reopen(void)
{
	pthread_mutex_lock(&all.lock);
	all.reopen = true;
	pthread_cond_signal(&all.work);
	pthread_mutex_unlock(&all.lock);
}

static bool wait_until_idle(unsigned ms)
{
	const struct timespec at = io_thread_in_ms(ms);
	int error = 0;

	while (!is_idle() && error == 0)
		error = pthread_cond_timedwait(&all.done, &all.lock, &at);
	return is_idle();
}

bool log_writer_flush(unsigned ms)
{
	bool idle;

	pthread_mutex_lock(&all.lock);
	idle = all.state == THERE ? wait_until_idle(ms) : all.state == NOT_THERE;
	pthread_mutex_unlock(&all.lock);
	return idle;
}

bool log_writer_end(unsigned ms)
{
	bool idle;

	if (all.state != THERE)
		return all.state == NOT_THERE;
	pthread_mutex_lock(&all.lock);
	idle = wait_until_idle(ms);
	all.state = idle ? ENDING : LOST;
	pthread_cond_signal(&all.work);
	while (idle && all.state != ENDED)
		pthread_cond_wait(&all.done, &all.lock);
	if (idle)
		all.state = NOT_THERE;
	pthread_mutex_unlock(&all.lock);
	return idle;
}
