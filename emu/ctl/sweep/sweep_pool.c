/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts runs, waits for them, ends those that take too long. */
#include "sweep_pool.h"

#include "emu/ctl/instance/instance.h"
#include "emu/ctl/lib/lib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LATE    30  /* seconds that a run gets to tell what its command waits for, and to end */
#define GRACE   10  /* those of one that is told to end */
#define STEP_MS 50  /* between two looks at who takes long */
#define CROWD   8   /* runs for each processor, at most */
#define LOG_S   10  /* between two lines of progress that nobody sees at once */
#define SLOW_S  0.5 /* beyond twice the usual time a run mostly waits */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

struct state {
	struct sweep_pool *pool;
	unsigned n, next, running, done, before; /* before: made by an earlier sweep */
	int interrupted;
	time_t shown;
};

void sweep_pool_hold_signals(struct sweep_pool *pool)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL); /* it may come ignored, and wait would find nobody */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, &pool->before);
}

/* ---- one run ---- */

static void remove_folder(const char *path)
{
	struct run_dir dir;

	if (snprintf(dir.path, sizeof(dir.path), "%s", path) < (int)sizeof(dir.path))
		run_dir_remove(dir.path);
}

static int name_files(struct sweep_slot *slot, const char *dir, unsigned i)
{
	struct {
		char *path;
		const char *ending;
	} files[] = {{slot->output, "out"},
		     {slot->report, "txt"},
		     {slot->findings, "json"},
		     {slot->record, "rules"},
		     {slot->temp, "tmp"}};

	for (unsigned k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
		if (snprintf(files[k].path, PATH_MAX, "%s/%u.%s", dir, i, files[k].ending) >=
		    PATH_MAX)
			return -ENAMETOOLONG;
		unlink(files[k].path);
	}
	remove_folder(slot->temp);
	return mkdir(slot->temp, 0700) < 0 ? -errno : 0;
}

static void __attribute__((noreturn))
become(const struct sweep_pool *pool, const struct sweep_slot *slot, unsigned index, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(125);
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, &pool->before, NULL);
	pool->become(pool->arg, slot, index);
	_exit(125);
}

static int start(struct state *s, struct sweep_slot *slot, unsigned index)
{
	const pid_t parent = getpid();
	int error = name_files(slot, s->pool->dir, (unsigned)(slot - s->pool->slot));

	if (error < 0) {
		fprintf(stderr, "uhca-run: %s: %s\n", s->pool->dir, strerror(-error));
		return error;
	}
	slot->pid = fork();
	if (slot->pid == 0)
		become(s->pool, slot, index, parent);
	if (slot->pid < 0) {
		error = -errno;
		slot->pid = 0;
		fprintf(stderr, "uhca-run: fork: %s\n", strerror(-error));
		return error;
	}
	setpgid(slot->pid, slot->pid); /* whoever of us comes first */
	slot->index = index;
	slot->signalled = false;
	slot->began = ctl_now();
	s->running++;
	return 0;
}

/* What it left behind goes with it; until it is collected the number is the group's. */
static bool collect(struct state *s, struct sweep_slot *slot)
{
	siginfo_t info = {0};
	int status;
	pid_t pid = slot->pid;

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != pid)
		return false;
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	s->running--;
	slot->pid = 0;
	if (!s->interrupted) {
		s->done++;
		s->pool->ended(s->pool->arg, slot,
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
			       ctl_seconds_since(slot->began));
	}
	remove_folder(slot->temp);
	return true;
}

/* ---- all of them ---- */

/* How many there may be now: who takes long waits, and leaves its processor to others. */
static bool has_room(const struct state *s)
{
	const struct sweep_pool *p = s->pool;
	const double slow = 2 * p->usual + SLOW_S;
	unsigned busy = 0;

	for (unsigned i = 0; i < SWEEP_SLOTS_MAX; i++)
		busy += p->slot[i].pid &&
			(p->usual == 0 || ctl_seconds_since(p->slot[i].began) < slow);
	return busy < p->jobs && s->running < CROWD * p->jobs && s->running < SWEEP_SLOTS_MAX;
}

static struct sweep_slot *free_slot(struct sweep_pool *p)
{
	struct sweep_slot *slot = p->slot;

	while (slot->pid)
		slot++;
	return slot;
}

static int start_some(struct state *s)
{
	struct sweep_pool *p = s->pool;
	int error = 0;

	while (error == 0 && !s->interrupted && s->next < s->n && has_room(s)) {
		if (!p->is_done || !p->is_done(p->arg, s->next))
			error = start(s, free_slot(p), s->next);
		else
			s->before++;
		s->next++;
	}
	return error;
}

static void signal_all(struct sweep_pool *p, int number)
{
	for (unsigned i = 0; i < SWEEP_SLOTS_MAX; i++) {
		if (!p->slot[i].pid)
			continue;
		kill(number == SIGKILL ? -p->slot[i].pid : p->slot[i].pid, number);
		p->slot[i].began = ctl_now();
		p->slot[i].signalled = true;
	}
}

/* A run ends its command by itself; this is for one that does not. */
static void end_late(struct sweep_pool *p)
{
	for (unsigned i = 0; i < SWEEP_SLOTS_MAX; i++) {
		struct sweep_slot *slot = &p->slot[i];
		const double age = slot->pid ? ctl_seconds_since(slot->began) : 0;

		if (age > p->limit + LATE + GRACE || (slot->signalled && age > GRACE)) {
			kill(-slot->pid, SIGKILL);
		} else if (age > p->limit + LATE && !slot->signalled) {
			kill(slot->pid, SIGTERM);
			slot->signalled = true;
		}
	}
}

static void show(struct state *s, bool last)
{
	const unsigned all = s->n, done = s->done + s->before;
	const bool terminal = isatty(STDERR_FILENO);
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!s->pool->shows || (!last && now.tv_sec < s->shown + (terminal ? 1 : LOG_S)))
		return;
	s->shown = now.tv_sec;
	fprintf(stderr, "%suhca-run: sweep: %u of %u runs (%u %%), %u at work %s",
		terminal ? "\r" : "", done, all, all ? done * 100 / all : 100, s->running,
		last || !terminal ? "\n" : "");
	fflush(stderr);
}

static void hear(struct state *s, const sigset_t *set)
{
	struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
	const int number = sigtimedwait(set, NULL, &step);

	for (unsigned i = 0; i < SWEEP_SLOTS_MAX; i++)
		if (s->pool->slot[i].pid)
			collect(s, &s->pool->slot[i]);
	if (number <= 0 || number == SIGCHLD)
		return;
	signal_all(s->pool, s->interrupted ? SIGKILL : SIGTERM);
	s->interrupted = number;
}

int sweep_pool_run(struct sweep_pool *pool, unsigned n)
{
	struct state s = {.pool = pool, .n = n};
	int error = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(&set, ending[i]);
	for (;;) {
		if (error == 0)
			error = start_some(&s);
		if (s.running == 0 && (error || s.interrupted || s.next == n))
			break;
		hear(&s, &set);
		end_late(pool);
		show(&s, false);
	}
	show(&s, true);
	return error ? error : s.interrupted;
}
