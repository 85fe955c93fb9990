/* SPDX-License-Identifier: BSD-2-Clause */
/* uhca-run --timeout: reports what threads and QPs wait for, then ends the command. */
#include "run_hang.h"

#include "emu/ctl/lib/lib.h"
#include "pidfd.h"
#include "run_stack.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX  256
#define GRACE_MS       5000  /* for an end after SIGTERM */
#define EXPLAIN_MS     10000 /* for the daemon's answer */
/* A loop that looks again and again sleeps no longer; ibv_poll_cq of the provider does for 1 ns. */
#define SHORT_SLEEP_NS 1000000u

struct process {
	pid_t pid, parent;
};

/* ---- who there is ---- */

/* The fields of a file stat behind the name, which may have any characters. */
static bool read_stat(const char *path, char *state, int *parent, char name[64])
{
	char text[512] = "";
	FILE *f = fopen(path, "re");
	char *begin, *end;

	if (!f)
		return false;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	begin = strchr(text, '(');
	end = strrchr(text, ')');
	if (!begin || !end || sscanf(end + 1, " %c %d", state, parent) != 2)
		return false;
	snprintf(name, 64, "%.*s", (int)(end - begin - 1), begin + 1);
	return true;
}

static bool is_in(const struct process *list, unsigned n, pid_t pid)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i].pid == pid)
			return true;
	return false;
}

/* Adds the processes whose parent is in the list already. Returns the new number. */
static unsigned add_children(struct process *list, unsigned n)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	char path[300], state, name[64];
	int parent;

	while (proc && n < PROCESSES_MAX && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		if (pid > 0 && !is_in(list, n, pid) && read_stat(path, &state, &parent, name) &&
		    is_in(list, n, parent))
			list[n++] = (struct process){pid, parent};
	}
	if (proc)
		closedir(proc);
	return n;
}

static unsigned find_all(pid_t root, struct process list[PROCESSES_MAX])
{
	unsigned n = 1, before = 0;

	list[0] = (struct process){root, 0};
	while (n > before && n < PROCESSES_MAX) {
		before = n;
		n = add_children(list, n);
	}
	return n;
}

/* ---- what they wait for ---- */

static void print_descriptor(pid_t pid, long fd)
{
	char path[64], target[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", (int)pid, fd);
	n = readlink(path, target, sizeof(target) - 1);
	fprintf(stderr, " of descriptor %ld", fd);
	if (n > 0)
		fprintf(stderr, ", %.*s", (int)n, target);
}

/* ns of the sleep that a call with these arguments is; UINT64_MAX: it is none. */
static uint64_t sleep_ns(pid_t pid, long number, const unsigned long a[3])
{
	struct timespec t;
	struct iovec here = {&t, sizeof(t)}, there = {NULL, sizeof(t)};

	if (number == SYS_nanosleep)
		there.iov_base = (void *)a[0];
	else if (number == SYS_clock_nanosleep && !(a[1] & TIMER_ABSTIME))
		there.iov_base = (void *)a[2];
	if (!there.iov_base || process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof(t))
		return UINT64_MAX;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void print_naps(uint64_t ns)
{
	char words[128];

	waiting_naps(ns, words, sizeof(words));
	fputs(words, stderr);
}

/* False: the kernel does not tell. */
static bool print_call(pid_t pid, const char *task)
{
	char path[300];
	long number = -1;
	unsigned long a[3] = {0};
	uint64_t ns;
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", (int)pid, task);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fscanf(f, "%ld %lx %lx %lx", &number, &a[0], &a[1], &a[2]);
	fclose(f);
	if (n < 1)
		return false;
	const struct waiting_call *call = waiting_call(number);

	ns = sleep_ns(pid, number, a);
	if (ns <= SHORT_SLEEP_NS)
		print_naps(ns);
	else if (call)
		fprintf(stderr, "waits in %s", call->name);
	else
		fprintf(stderr, "waits in the system call with number %ld", number);
	if (call && call->on_descriptor)
		print_descriptor(pid, (long)a[0]);
	return true;
}

static void print_thread(pid_t pid, const char *task)
{
	char path[300], state = '?', name[64] = "?";
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, task);
	if (!read_stat(path, &state, &parent, name))
		return;
	fprintf(stderr, "uhca-run:   thread %s (%s) ", task, name);
	if (state == 'R')
		fputs(WAITING_RUNS, stderr);
	else if (state == 'T' || state == 't')
		fputs("is stopped", stderr);
	else if (state == 'Z')
		fputs("has ended; its parent has not waited for it", stderr);
	else if (!print_call(pid, task))
		fputs("waits; the kernel does not show in which call", stderr);
	fputc('\n', stderr);
}

static void print_command_line(pid_t pid)
{
	char path[64], text[200];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	n = f ? fread(text, 1, sizeof(text), f) : 0;
	if (f)
		fclose(f);
	for (size_t i = 0; i < n; i++)
		if (!isprint((unsigned char)text[i]))
			text[i] = ' ';
	fprintf(stderr, "uhca-run: process %d: %.*s\n", (int)pid, (int)n, text);
}

static void print_process(pid_t pid)
{
	char path[64];
	const struct dirent *entry;
	const char *why;
	struct run_stack *stack;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	print_command_line(pid);
	stack = run_stack_open(pid, &why);
	if (!stack)
		fprintf(stderr, "uhca-run:   no stacks: %s\n", why);
	while ((entry = readdir(tasks))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		print_thread(pid, entry->d_name);
		if (stack)
			run_stack_print(stack, (pid_t)atoi(entry->d_name));
	}
	if (stack)
		run_stack_close(stack);
	closedir(tasks);
}

/* ---- the daemon ---- */

bool run_hang_ends_within(pid_t pid, int ms)
{
	struct pollfd p = {.fd = ctl_pidfd_open(pid), .events = POLLIN};
	siginfo_t info = {0};

	for (int waited = 0; p.fd < 0 && waited < ms; waited += 20) { /* a kernel before 5.3 */
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid == pid)
			return true;
		poll(NULL, 0, 20);
	}
	if (p.fd < 0)
		return false;
	poll(&p, 1, ms);
	close(p.fd);
	return p.revents != 0;
}

static void print_queue_pairs(const char *dir)
{
	sigset_t none;
	pid_t pid = fork();

	if (pid == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execlp("uhcactl", "uhcactl", "--dir", dir, "explain", "live", (char *)NULL);
		fprintf(stderr, "uhca-run: uhcactl: %s\n", strerror(errno));
		_exit(127);
	}
	if (pid < 0)
		return;
	if (!run_hang_ends_within(pid, EXPLAIN_MS)) {
		fputs("uhca-run: the daemon does not respond\n", stderr);
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void run_hang_print(pid_t root, bool is_reaper, const char *dir)
{
	struct process list[PROCESSES_MAX];
	unsigned n = find_all(root, list);

	for (unsigned i = is_reaper; i < n; i++)
		print_process(list[i].pid);
	fputs("uhca-run: what the queue pairs wait for, by uhcactl explain live:\n", stderr);
	print_queue_pairs(dir);
}

/* ---- the end ---- */

static void send(int pidfd, pid_t pid, int number)
{
	if (pidfd >= 0)
		ctl_pidfd_signal(pidfd, number);
	else
		kill(pid, number);
}

void run_hang_kill_children(int number)
{
	struct process list[PROCESSES_MAX];
	unsigned n = find_all(getpid(), list);

	/* Nobody else collects them: a number cannot be another's yet. */
	for (unsigned i = 1; i < n; i++)
		kill(list[i].pid, number);
}

void run_hang_end(pid_t root)
{
	struct process list[PROCESSES_MAX];
	int fd[PROCESSES_MAX];
	unsigned n = find_all(root, list);

	/* By descriptors: a number may be somebody else's some seconds later. */
	for (unsigned i = 0; i < n; i++)
		fd[i] = ctl_pidfd_open(list[i].pid);
	for (unsigned i = 0; i < n; i++) {
		send(fd[i], list[i].pid, SIGTERM);
		send(fd[i], list[i].pid, SIGCONT);
	}
	run_hang_ends_within(root, GRACE_MS);
	for (unsigned i = 0; i < n; i++) {
		send(fd[i], list[i].pid, SIGKILL);
		if (fd[i] >= 0)
			close(fd[i]);
	}
	run_hang_ends_within(root, GRACE_MS);
}
