/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll(2) on the control sockets of all contexts, for hang-up only: replies do not wake it. A pipe
 * tells it that the list has changed. It starts with the first context and is joined after the
 * last, so that a program that closes its devices ends without a thread of ours.
 *
 * Starting and joining are serialised by "starter", which is taken before "lock"; the thread
 * itself takes only "lock".
 */
#include "monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MONITOR_STACK (256u * 1024)

static pthread_mutex_t starter = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct uhcav_context *contexts; /* both under lock */
static bool stop;
static pthread_t thread; /* these under starter */
static bool running;
static unsigned beside; /* other threads of ours; atomic */
static pid_t tid;       /* of the thread; atomic */
static int pipe_fd[2] = {-1, -1};
static struct pollfd *fds; /* the thread's own */
static nfds_t room;

/* One slot for the pipe, then one per live context. Returns their number, 0 without memory. */
static nfds_t collect(void)
{
	nfds_t n = 1;

	for (struct uhcav_context *c = contexts; c; c = c->next)
		n++;
	if (n > room) {
		struct pollfd *more = realloc(fds, n * sizeof(*fds));
		if (!more)
			return 0;
		fds = more;
		room = n;
	}
	fds[0] = (struct pollfd){.fd = pipe_fd[0], .events = POLLIN};
	n = 1;
	for (struct uhcav_context *c = contexts; c; c = c->next)
		if (uhcav_life(c) == UHCAV_ALIVE)
			fds[n++] = (struct pollfd){.fd = c->rpc.sock, .events = POLLRDHUP};
	return n;
}

/* Asked again under the lock: the number may belong to another socket by now. */
static bool hung_up(int sock)
{
	struct pollfd p = {.fd = sock, .events = POLLRDHUP};

	return poll(&p, 1, 0) == 1 && p.revents;
}

static void notice(void)
{
	for (struct uhcav_context *c = contexts; c; c = c->next)
		if (uhcav_life(c) == UHCAV_ALIVE && hung_up(c->rpc.sock))
			uhcav_context_fatal(c);
}

static void *monitor(void *arg)
{
	(void)arg;
	__atomic_store_n(&tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (;;) {
		nfds_t n;
		char drain[16];

		pthread_mutex_lock(&lock);
		n = stop ? 0 : collect();
		pthread_mutex_unlock(&lock);
		if (!n)
			break;
		if (poll(fds, n, -1) < 0)
			continue;
		if (fds[0].revents && read(pipe_fd[0], drain, sizeof(drain)) > 0)
			continue; /* the list has changed: what poll said may be stale */
		pthread_mutex_lock(&lock);
		notice();
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

pid_t uhcav_monitor_thread(void)
{
	return __atomic_load_n(&tid, __ATOMIC_ACQUIRE);
}

bool uhcav_monitor_owns(int fd)
{
	return fd == pipe_fd[0] || fd == pipe_fd[1];
}

void uhcav_monitor_beside(unsigned n)
{
	__atomic_store_n(&beside, n, __ATOMIC_RELAXED);
}

static void wake(void)
{
	/* A full pipe wakes it as well. */
	if (write(pipe_fd[1], "", 1) < 0)
		return;
}

/* All signals blocked: handlers of the application do not run on a thread it does not know. */
static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, MONITOR_STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, &attr, monitor, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

static int start(void)
{
	int err;

	if (pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	stop = false;
	err = start_thread();
	if (err) {
		close(pipe_fd[0]);
		close(pipe_fd[1]);
		return err;
	}
	running = true;
	return 0;
}

/* It has ended, or stayed behind in the parent. */
static void forget_thread(void)
{
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	free(fds);
	fds = NULL;
	room = 0;
	running = false;
}

static void stop_and_join(void)
{
	pthread_mutex_lock(&lock);
	stop = true;
	pthread_mutex_unlock(&lock);
	wake();
	pthread_join(thread, NULL);
	forget_thread();
}

static void link_context(struct uhcav_context *ctx)
{
	pthread_mutex_lock(&lock);
	ctx->next = contexts;
	contexts = ctx;
	pthread_mutex_unlock(&lock);
}

/* Returns true when the list is empty afterwards. */
static bool unlink_context(struct uhcav_context *ctx)
{
	struct uhcav_context **at = &contexts;
	bool empty;

	pthread_mutex_lock(&lock);
	while (*at && *at != ctx)
		at = &(*at)->next;
	if (*at)
		*at = ctx->next;
	empty = !contexts;
	pthread_mutex_unlock(&lock);
	return empty;
}

int uhcav_monitor_add(struct uhcav_context *ctx)
{
	int err = 0;

	pthread_mutex_lock(&starter);
	link_context(ctx);
	if (!running)
		err = start();
	else
		wake();
	if (err)
		unlink_context(ctx);
	pthread_mutex_unlock(&starter);
	return err;
}

void uhcav_monitor_remove(struct uhcav_context *ctx)
{
	bool empty;

	pthread_mutex_lock(&starter);
	empty = unlink_context(ctx);
	if (running && empty)
		stop_and_join();
	else if (running)
		wake();
	pthread_mutex_unlock(&starter);
}

void uhcav_monitor_lock(void)
{
	pthread_mutex_lock(&starter);
	pthread_mutex_lock(&lock);
}

void uhcav_monitor_unlock(void)
{
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&starter);
}

void uhcav_monitor_forked(void)
{
	for (struct uhcav_context *c = contexts; c; c = c->next)
		uhcav_context_forked(c);
	if (running)
		forget_thread();
}

void uhcav_monitor_each(void (*what)(struct uhcav_context *ctx, void *arg), void *arg)
{
	uhcav_monitor_lock();
	for (struct uhcav_context *c = contexts; c; c = c->next)
		what(c, arg);
	uhcav_monitor_unlock();
}

unsigned uhcav_monitor_threads(void)
{
	unsigned n;

	pthread_mutex_lock(&starter);
	n = running;
	pthread_mutex_unlock(&starter);
	return n;
}

struct search {
	int cmd_fd, fd;
};

static void match(struct uhcav_context *c, void *arg)
{
	struct search *s = arg;

	if (c->ibctx->cmd_fd == s->cmd_fd)
		s->fd = c->async.read_fd;
}

int uhcav_monitor_async_fd(int cmd_fd)
{
	struct search s = {cmd_fd, -1};

	uhcav_monitor_each(match, &s);
	return s.fd;
}
