/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See reaper.h. A thread that begins a job sees to it that another one is free, for the job may
 * never end; up to a bound: then what is to be closed stays open until one of them comes back. The
 * daemon's other state is its one thread's: these here know nothing of it.
 */
#include "reaper.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORKERS 32
#define WHILE   (50 * IO_USEC) /* in which messages are taken out of a socket */
#define FEW     2              /* of them, at least */
#define FDS_MAX 253            /* of a message (SCM_MAX_FD) */
#define STAY_S  1              /* a thread without work */
#define MUCH    (1u << 20)

struct job {
	STAILQ_ENTRY(job) link;
	void (*work)(const struct job *j);
	int fd;
	void *base;
	size_t size;
	void (*other)(void *arg);
};

STAILQ_HEAD(jobs, job);

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work; /* for threads */
	pthread_cond_t done; /* for who waits */
	struct jobs jobs;
	unsigned idle; /* from the beginning of a thread on */
	unsigned busy;
	bool has_job[WORKERS];
	bool is_there[WORKERS];
	pthread_t thread[WORKERS];
	bool ending; /* who has nothing to do is to go, and is waited for */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER,
	 .work = PTHREAD_COND_INITIALIZER,
	 .done = PTHREAD_COND_INITIALIZER,
	 .jobs = STAILQ_HEAD_INITIALIZER(all.jobs)};

static void work_close(const struct job *j)
{
	close(j->fd);
}

static void work_unmap(const struct job *j)
{
	munmap(j->base, j->size);
}

static atomic_bool trim_waits; /* for a thread: one is enough */

static size_t free_bytes(void)
{
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().fordblks;
#else
	return (unsigned)mallinfo().fordblks; /* modulo 4 GiB */
#endif
}

/* Already to ask takes a millisecond, where a hundred megabytes are free in pieces. */
static void work_trim(const struct job *j)
{
	(void)j;
	atomic_store(&trim_waits, false);
	if (free_bytes() > MUCH)
		malloc_trim(0);
}

static void work_other(const struct job *j)
{
	j->other(j->base);
}

/* NULL: it is time to go, for all but the first. The lock is held. */
static struct job *next_job(uintptr_t me)
{
	const struct timespec end = io_thread_in_ms(STAY_S * 1000);
	struct job *j;
	int error = 0;

	while (STAILQ_EMPTY(&all.jobs) && !all.ending && error == 0)
		error = me ? pthread_cond_timedwait(&all.work, &all.lock, &end)
			   : pthread_cond_wait(&all.work, &all.lock);
	all.idle--;
	j = STAILQ_FIRST(&all.jobs);
	if (j)
		STAILQ_REMOVE_HEAD(&all.jobs, link);
	return j;
}

static void *work(void *number);

/* The lock is held. */
static void keep_one_free(void)
{
	uintptr_t i = 0;

	if (all.idle > 0 || all.ending)
		return;
	while (i < WORKERS && all.is_there[i])
		i++;
	if (i < WORKERS && io_thread_create(&all.thread[i], NULL, work, (void *)i) == 0) {
		all.is_there[i] = true;
		all.idle++;
	}
}

static void *work(void *number)
{
	const uintptr_t me = (uintptr_t)number;
	struct job *j;

	pthread_mutex_lock(&all.lock);
	while ((j = next_job(me))) {
		all.has_job[me] = true;
		all.busy++;
		keep_one_free();
		if (!STAILQ_EMPTY(&all.jobs))
			pthread_cond_signal(&all.work);
		pthread_mutex_unlock(&all.lock);
		j->work(j);
		free(j);
		pthread_mutex_lock(&all.lock);
		all.busy--;
		all.idle++;
		all.has_job[me] = false;
		pthread_cond_broadcast(&all.done);
	}
	if (!all.ending) {
		pthread_detach(pthread_self());
		all.is_there[me] = false;
	}
	pthread_mutex_unlock(&all.lock);
	return NULL;
}

static bool nobody(void)
{
	for (unsigned i = 0; i < WORKERS; i++)
		if (all.is_there[i])
			return false;
	return true;
}

/*
 * All of them at once: hundreds of wake-ups would take milliseconds. One thread wakes the next, as
 * each sees to it that another is free. False: nobody can do it.
 */
static bool bring(struct jobs *jobs)
{
	bool ok;

	pthread_mutex_lock(&all.lock);
	keep_one_free();
	ok = !nobody();
	if (ok) {
		STAILQ_CONCAT(&all.jobs, jobs);
		pthread_cond_signal(&all.work);
	}
	pthread_mutex_unlock(&all.lock);
	return ok;
}

/* Where there is no memory for it, it is done here. */
static void add(struct jobs *jobs, const struct job *job)
{
	struct job *j = malloc(sizeof(*j));

	if (!j) {
		job->work(job);
		return;
	}
	*j = *job;
	STAILQ_INSERT_TAIL(jobs, j, link);
}

/* Where there is no thread for them, they are done here. */
static void give_all(struct jobs *jobs)
{
	struct job *j;

	if (STAILQ_EMPTY(jobs) || bring(jobs))
		return;
	while ((j = STAILQ_FIRST(jobs))) {
		STAILQ_REMOVE_HEAD(jobs, link);
		j->work(j);
		free(j);
	}
}

static void give(const struct job *job)
{
	struct jobs one = STAILQ_HEAD_INITIALIZER(one);

	add(&one, job);
	give_all(&one);
}

static void give_descriptors(const struct msghdr *msg)
{
	struct jobs jobs = STAILQ_HEAD_INITIALIZER(jobs);

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR((struct msghdr *)msg, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; c->cmsg_type == SCM_RIGHTS && i < n; i++) {
			struct job j = {.work = work_close};

			memcpy(&j.fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			add(&jobs, &j);
		}
	}
	give_all(&jobs);
}

/*
 * Takes a message, or some bytes of a stream, and what it holds. 1; 0: there is none, -1: there may
 * be. At its end a stream has no bytes; of other sockets a message may have none, but each says who
 * sent it (SO_PASSCRED), which the end does not.
 */
static int take_message(int fd, bool is_stream)
{
	union {
		struct cmsghdr aligned;
		char space[CMSG_SPACE(FDS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	char bytes[4096];
	struct iovec iov = {bytes, sizeof(bytes)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return errno == EAGAIN || errno == ECONNRESET ? 0 : -1;
	if (is_stream ? n == 0 : msg.msg_controllen == 0)
		return 0;
	give_descriptors(&msg);
	return 1;
}

/* Of SO_DOMAIN or SO_TYPE; -1: it is no socket. */
static int kind_of(int fd, int option)
{
	int kind = -1;
	socklen_t len = sizeof(kind);

	return getsockopt(fd, SOL_SOCKET, option, &kind, &len) == 0 ? kind : -1;
}

static bool is_unix(int fd)
{
	return kind_of(fd, SO_DOMAIN) == AF_UNIX;
}

/*
 * A Unix socket in which nothing waits is closed at once. What waits may hold descriptors, which
 * are closed with it.
 */
static bool is_harmless(int fd)
{
	char byte;

	return is_unix(fd) && recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       errno == EAGAIN;
}

void io_reaper_close(int fd)
{
	if (is_harmless(fd)) {
		close(fd);
		return;
	}
	give(&(struct job){.work = work_close, .fd = fd});
}

/*
 * By this thread, who may have it in an epoll set that forgets it later. A message may hold 253
 * descriptors, each of which is some work: what is still there after a while is left to a thread.
 */
void io_reaper_hang_up(int fd)
{
	const uint64_t end = io_clock_now() + WHILE;
	const int on = 1;
	bool is_stream = kind_of(fd, SO_TYPE) == SOCK_STREAM;
	int some =
		is_unix(fd) && !setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ? 1 : -1;

	for (unsigned i = 0; some == 1 && (i < FEW || io_clock_now() < end); i++)
		some = take_message(fd, is_stream);
	if (some == 0)
		close(fd);
	else
		give(&(struct job){.work = work_close, .fd = fd});
}

void io_reaper_unmap(void *base, size_t size)
{
	give(&(struct job){.work = work_unmap, .base = base, .size = size});
}

void io_reaper_trim(void)
{
	if (!atomic_exchange(&trim_waits, true))
		give(&(struct job){.work = work_trim});
}

void io_reaper_do(void (*job)(void *arg), void *arg)
{
	give(&(struct job){.work = work_other, .other = job, .base = arg});
}

bool io_reaper_wait(unsigned ms)
{
	const struct timespec end = io_thread_in_ms(ms);
	int error = 0;
	bool done;

	pthread_mutex_lock(&all.lock);
	while ((all.busy > 0 || !STAILQ_EMPTY(&all.jobs)) && error == 0)
		error = pthread_cond_timedwait(&all.done, &all.lock, &end);
	done = all.busy == 0 && STAILQ_EMPTY(&all.jobs);
	pthread_mutex_unlock(&all.lock);
	return done;
}

void io_reaper_end(unsigned ms)
{
	pthread_mutex_lock(&all.lock);
	all.ending = true;
	pthread_cond_broadcast(&all.work);
	pthread_mutex_unlock(&all.lock);
	io_reaper_wait(ms);
	pthread_mutex_lock(&all.lock);
	for (unsigned i = 0; i < WORKERS; i++) {
		if (!all.is_there[i] || all.has_job[i])
			continue;
		pthread_mutex_unlock(&all.lock);
		pthread_join(all.thread[i], NULL);
		pthread_mutex_lock(&all.lock);
		all.is_there[i] = false;
	}
	all.ending = false;
	pthread_mutex_unlock(&all.lock);
}
