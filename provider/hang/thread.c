/* SPDX-License-Identifier: BSD-2-Clause */
/* See thread.h, and proc(5) about syscall and fdinfo. */
#include "thread.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS 6
#define RETURN_MS 50 /* from the handler of a signal, on a busy machine */

struct in_call {
	long number;
	uint64_t argument[ARGUMENTS], sp;
};

bool uhcav_hang_peek(uint64_t at, void *to, size_t length)
{
	struct iovec local = {to, length}, remote = {(void *)(uintptr_t)at, length};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)length;
}

/* A small file of /proc. False: it is not there. */
static bool read_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, room - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* False: it runs, or has ended. */
static bool read_call(pid_t tid, struct in_call *c, bool *known)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
	*known = read_file(path, text, sizeof(text));
	return *known && sscanf(text,
				"%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
				" %" SCNx64 " %" SCNx64,
				&c->number, &c->argument[0], &c->argument[1], &c->argument[2],
				&c->argument[3], &c->argument[4], &c->argument[5], &c->sp) == 8;
}

static void add_fd(struct uhcav_hang_thread *t, int fd)
{
	if (t->n_fds < UHCAV_HANG_FDS)
		t->fds[t->n_fds++] = fd;
	else
		t->does = UHCAV_HANG_RUNS; /* too much to judge */
}

static void take_poll(struct uhcav_hang_thread *t, uint64_t at, uint64_t n)
{
	struct pollfd p;

	for (uint64_t i = 0; i < n && t->does == UHCAV_HANG_FILES; i++) {
		if (!uhcav_hang_peek(at + i * sizeof(p), &p, sizeof(p)))
			t->does = UHCAV_HANG_RUNS;
		else if (p.fd >= 0)
			add_fd(t, p.fd);
	}
}

static void take_select(struct uhcav_hang_thread *t, const struct in_call *c)
{
	int n = (int)c->argument[0] < FD_SETSIZE ? (int)c->argument[0] : FD_SETSIZE;

	for (int set = 1; set <= 3; set++) {
		fd_set fds;

		if (!c->argument[set])
			continue;
		if (!uhcav_hang_peek(c->argument[set], &fds, sizeof(fds)))
			t->does = UHCAV_HANG_RUNS;
		for (int fd = 0; fd < n && t->does == UHCAV_HANG_FILES; fd++)
			if (FD_ISSET(fd, &fds))
				add_fd(t, fd);
	}
}

static void take_epoll(struct uhcav_hang_thread *t, int epoll)
{
	const unsigned edge = EPOLLIN | EPOLLET;
	char path[64], line[256];
	unsigned events;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", epoll);
	f = fopen(path, "re");
	if (!f)
		t->does = UHCAV_HANG_RUNS;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "tfd: %d events: %x", &fd, &events) == 2) {
			if ((events & edge) == edge && t->n_fds < UHCAV_HANG_FDS)
				t->edges |= 1u << t->n_fds;
			add_fd(t, fd);
		}
	if (f)
		fclose(f);
}

static void take_futex(struct uhcav_hang_thread *t, const struct in_call *c)
{
	int op = (int)c->argument[1] & FUTEX_CMD_MASK;

	if ((op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_LOCK_PI) && !c->argument[3])
		t->does = UHCAV_HANG_LOCK;
}

/* The descriptors that a call waits for; a call that is not here is taken for one that ends. */
static void take_call(struct uhcav_hang_thread *t, const struct in_call *c)
{
	t->does = UHCAV_HANG_FILES;
	switch (c->number) {
	case SYS_futex:
		t->does = UHCAV_HANG_RUNS;
		take_futex(t, c);
		break;
	case SYS_read:
	case SYS_recvfrom:
	case SYS_recvmsg:
		add_fd(t, (int)c->argument[0]);
		break;
#ifdef SYS_poll
	case SYS_poll:
		t->limited = (int)c->argument[2] >= 0;
		take_poll(t, c->argument[0], c->argument[1]);
		break;
	case SYS_select:
		t->limited = c->argument[4];
		take_select(t, c);
		break;
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
		t->limited = (int)c->argument[3] >= 0;
		take_epoll(t, (int)c->argument[0]);
		break;
	case SYS_ppoll:
		t->limited = c->argument[2];
		take_poll(t, c->argument[0], c->argument[1]);
		break;
	case SYS_pselect6:
		t->limited = c->argument[4];
		take_select(t, c);
		break;
	default:
		t->does = UHCAV_HANG_RUNS;
		break;
	}
}

static void take_sleep(struct uhcav_hang_thread *t, const struct in_call *c)
{
	bool plain = c->number == SYS_nanosleep;
	struct timespec s;

	t->sleeps = plain || c->number == SYS_clock_nanosleep;
	if (t->sleeps && (plain || !(c->argument[1] & TIMER_ABSTIME)) &&
	    uhcav_hang_peek(c->argument[plain ? 0 : 2], &s, sizeof(s)))
		t->sleep_ns = (uint64_t)s.tv_sec * 1000000000u + (uint64_t)s.tv_nsec;
}

static uint64_t key_of(const struct in_call *c)
{
	uint64_t key = (uint64_t)c->number ^ c->sp;

	for (int i = 0; i < ARGUMENTS; i++)
		key = (key ^ c->argument[i]) * 0x9e3779b97f4a7c15ull;
	return key | 1;
}

/* One that reads a message and calls again is in the same call, but was woken for it. */
static uint64_t times_woken(pid_t tid)
{
	static const char name[] = "\nvoluntary_ctxt_switches:";
	char path[64], text[4096];
	const char *at = NULL;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
	if (read_file(path, text, sizeof(text)))
		at = strstr(text, name);
	return at ? strtoull(at + sizeof(name) - 1, NULL, 10) : 0;
}

static struct uhcav_hang_thread look_at(pid_t tid, bool *known)
{
	struct uhcav_hang_thread t = {.tid = tid, .does = UHCAV_HANG_RUNS, .seen = true};
	struct in_call c;

	if (read_call(tid, &c, known)) {
		t.in_call = true;
		t.call = c.number;
		t.first = c.argument[0];
		t.key = key_of(&c);
		take_call(&t, &c);
		take_sleep(&t, &c);
	}
	return t;
}

static struct uhcav_hang_thread *find_thread(struct uhcav_hang_threads *all, pid_t tid)
{
	for (unsigned i = 0; i < all->n; i++)
		if (all->at[i].tid == tid)
			return &all->at[i];
	if (all->n == UHCAV_HANG_THREADS)
		return NULL;
	all->at[all->n] = (struct uhcav_hang_thread){.tid = tid};
	return &all->at[all->n++];
}

static bool exists(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
	return access(path, F_OK) == 0;
}

static void take_thread(struct uhcav_hang_threads *all, pid_t tid, uint64_t now)
{
	bool known, same;
	struct uhcav_hang_thread t = look_at(tid, &known), *to;

	if (!known) { /* it has just ended, or the kernel does not tell */
		all->all &= !exists(tid);
		return;
	}
	to = find_thread(all, tid);
	if (!to) {
		all->all = false;
		return;
	}
	same = to->since && to->key == t.key;
	t.since = same ? to->since : now;
	if (t.sleeps || (t.does == UHCAV_HANG_FILES && !t.limited))
		t.woken = times_woken(tid);
	t.naps = t.sleeps && same && (to->naps || t.woken != to->woken);
	t.quiet = same && (t.sleeps || t.woken == to->woken) ? to->quiet : now;
	*to = t;
}

static void drop_gone(struct uhcav_hang_threads *all)
{
	for (unsigned i = 0; i < all->n;) {
		if (all->at[i].seen)
			i++;
		else
			all->at[i] = all->at[--all->n];
	}
}

void uhcav_hang_threads_look(struct uhcav_hang_threads *all, uint64_t now, pid_t self, pid_t other)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;

	for (unsigned i = 0; i < all->n; i++)
		all->at[i].seen = false;
	all->all = tasks;
	while (tasks && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)atoi(entry->d_name);

		if (isdigit((unsigned char)entry->d_name[0]) && tid != self && tid != other)
			take_thread(all, tid, now);
	}
	if (tasks)
		closedir(tasks);
	drop_gone(all);
}

static bool stays(const struct uhcav_hang_thread *t)
{
	bool known;

	return t->polls || look_at(t->tid, &known).key == t->key;
}

bool uhcav_hang_threads_stay(const struct uhcav_hang_threads *all)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	unsigned i = 0;

	for (unsigned waited = 0; i < all->n && waited < RETURN_MS;) {
		if (stays(&all->at[i])) {
			i++;
		} else {
			nanosleep(&ms, NULL);
			waited++;
		}
	}
	return i == all->n;
}
