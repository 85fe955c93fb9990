/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Start and stop of the daemon. Its addresses are taken for it while it starts, so that no other
 * uhca-run gives them away; a daemon that somebody started by hand may come first even so: then the
 * next ones are tried, until one is free.
 */
#include "run_daemon.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/instance/instance.h"
#include "emu/machine/machine.h"
#include "run_chaos.h"
#include "run_env.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_TIMEOUT_MS 30000
#define STOP_TIMEOUT_MS  5000
#define STOP_STEP_MS     100 /* an interrupted one is over */
#define STOP_POLL_MS     5   /* where the kernel, before 5.3, cannot tell */

/* Descriptors of the daemon beside the standard three. */
#define READY_FD 3
#define ALIVE_FD 4

#define ARGS_MAX (RUN_DAEMON_ARGS_MAX + 2 * RUN_FAULTS_MAX + 2 * UHCA_DEVICES_MAX + 13)

struct daemon_args {
	const char *word[ARGS_MAX + 1];
	char address[UHCA_DEVICES_MAX][2 * 24];
	char chaos[RUN_CHAOS_WORD_MAX];
	unsigned n;
};

static void add(struct daemon_args *args, const char *word)
{
	args->word[args->n++] = word;
}

/* A shared daemon gets its rules by its socket: they are not what it was started with. */
static void add_faults(const struct run_options *options, struct daemon_args *args)
{
	for (unsigned i = 0; i < options->n_faults; i++) {
		add(args, options->faults[i].is_file ? "--fault-file" : "--fault");
		add(args, options->faults[i].text);
	}
	if (options->fault_seed) {
		add(args, "--fault-seed");
		add(args, options->fault_seed);
	}
}

/* One for each device, of a described machine one for each port. */
static void add_addresses(const struct run_options *options, unsigned block,
			  struct daemon_args *args)
{
	const struct machine *m = options->machine;
	unsigned devices = m ? m->n_devices : options->devices, next = 0;
	for (unsigned i = 0; i < devices; i++) {
		char *text = args->address[i];
		run_addr_name(block, next++, text);
		for (unsigned p = 1; m && p < m->device[i].n_ports; p++) {
			size_t n = strlen(text);
			text[n] = ',';
			run_addr_name(block, next++, text + n + 1);
		}
		add(args, "--addr");
		add(args, text);
	}
}

/* block 0 is where the daemon goes by itself */
static void build_args(const struct run_daemon *d, unsigned block, struct daemon_args *args)
{
	args->n = 0;
	add(args, "uhcad");
	add(args, "--dir");
	add(args, d->dir->path);
	add(args, "--ready-fd");
	add(args, "3");
	if (d->idle_timeout) {
		add(args, "--idle-timeout");
		add(args, d->idle_timeout);
	}
	for (unsigned i = 0; i < d->options->n_daemon_args; i++)
		add(args, d->options->daemon_args[i]);
	if (d->options->is_chaos) {
		run_chaos_word(&d->options->chaos, args->chaos, sizeof(args->chaos));
		add(args, args->chaos);
	}
	if (d->options->private_instance)
		add_faults(d->options, args);
	if (block > 0)
		add_addresses(d->options, block, args);
	args->word[args->n] = NULL;
}

/* Where uhca-run was started: what the daemon writes is not to be seen yet. */
static void __attribute__((noreturn)) give_up(const char *what)
{
	struct rlimit limit = {0};
	int error = errno;

	/* Beyond the limit fcntl(2) knows no number, and dup2(2) no descriptor. */
	if (error == EINVAL || error == EBADF)
		error = EMFILE;
	getrlimit(RLIMIT_NOFILE, &limit);
	fprintf(stderr, "uhca-run: %s: %s", what, strerror(error));
	if (error == EMFILE)
		fprintf(stderr, "; the limit of descriptors is %llu (ulimit -n)",
			(unsigned long long)limit.rlim_cur);
	fputc('\n', stderr);
	_exit(RUN_EXIT_FAILED);
}

/* Moves a descriptor to a number that no other of ours has and that survives exec. */
static bool place(int fd, int number)
{
	return fd == number ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, number) == number;
}

static bool redirect(const struct run_daemon *d, int ready)
{
	char log[RUN_DIR_MAX + 8];
	snprintf(log, sizeof(log), "%s/log", d->dir->path);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int err = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* out of the way first, so that no dup2 closes what the next one needs */
	int ready_high = fcntl(ready, F_DUPFD_CLOEXEC, 16);
	int alive_high = d->alive_fd < 0 ? -1 : fcntl(d->alive_fd, F_DUPFD_CLOEXEC, 16);
	int null_high = fcntl(null, F_DUPFD_CLOEXEC, 16);
	int err_high = fcntl(err, F_DUPFD_CLOEXEC, 16);
	return place(null_high, 0) && place(null_high, 1) && place(err_high, 2) &&
	       place(ready_high, READY_FD) && (alive_high < 0 || place(alive_high, ALIVE_FD));
}

/*
 * What uhca-run was started with (a pipe that somebody reads to its end) is not the daemon's, which
 * may live longer.
 */
static void close_the_rest(const struct run_daemon *d)
{
	unsigned from = d->alive_fd < 0 ? ALIVE_FD : ALIVE_FD + 1;
	if (syscall(__NR_close_range, from, ~0U, 0u) == 0)
		return;
	for (unsigned fd = from; fd < 1024; fd++) /* a kernel before 5.9 */
		close((int)fd);
}

static void reset_signals(void)
{
	sigset_t none;
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn))
become_daemon(const struct run_daemon *d, struct daemon_args *args, int ready, pid_t parent)
{
	if (d->die_with_parent) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(RUN_EXIT_FAILED);
	}
	/*
	 * The terminal's Ctrl-C is for the command. The session stays that of the programs: Linux
	 * makes each session a scheduling group (autogroup, sched(7)), outside of which
	 * sched_yield(2) gives the processor to nobody, and they poll.
	 */
	setpgid(0, 0);
	reset_signals();
	if (!redirect(d, ready))
		give_up("cannot pass the daemon its descriptors");
	close_the_rest(d);
	run_env_leave();
	execv(run_env_daemon(), (char **)(void *)args->word);
	fprintf(stderr, "uhca-run: %s: %s\n", run_env_daemon(), strerror(errno));
	_exit(RUN_EXIT_NOT_FOUND);
}

/* Waits for the byte that says "ready". 0, -ETIMEDOUT, or -ECHILD: the daemon ended. */
static int wait_ready(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char byte;
	int n;
	do
		n = poll(&p, 1, READY_TIMEOUT_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ETIMEDOUT;
	return read(fd, &byte, 1) == 1 ? 0 : -ECHILD;
}

/* 0 when it serves, or -errno: EADDRINUSE when another process has one of its addresses. */
static int start_once(struct run_daemon *d, unsigned block)
{
	static struct daemon_args args;
	int ready[2];
	if (pipe2(ready, O_CLOEXEC) < 0)
		return -errno;
	build_args(d, block, &args);
	d->log_from = run_dir_log_size(d->dir);
	pid_t parent = getpid();
	d->pid = fork();
	if (d->pid == 0)
		become_daemon(d, &args, ready[1], parent);
	int ret = d->pid < 0 ? -errno : 0;
	close(ready[1]);
	if (ret == 0) {
		ret = wait_ready(ready[0]);
		int status = ret < 0 ? run_daemon_stop(d->pid) : 0;
		d->status = status;
		if (WIFEXITED(status) && WEXITSTATUS(status) == UHCA_EXIT_ADDRESS_TAKEN)
			ret = -EADDRINUSE;
	}
	close(ready[0]);
	return ret;
}

static bool wrote_something(const struct run_daemon *d)
{
	return run_dir_log_size(d->dir) > d->log_from;
}

/* A daemon that cannot write its log: how it ended, and the likely reason. */
static void report_silent(const struct run_daemon *d, const char *how)
{
	struct statvfs fs;

	fprintf(stderr, "uhca-run: the daemon %s and wrote nothing into %s/log", how, d->dir->path);
	if (WIFEXITED(d->status))
		fprintf(stderr, "; it ended with status %d", WEXITSTATUS(d->status));
	else if (WIFSIGNALED(d->status))
		fprintf(stderr, "; signal %d (%s) ended it", WTERMSIG(d->status),
			strsignal(WTERMSIG(d->status)));
	if (statvfs(d->dir->path, &fs) == 0 && fs.f_bavail == 0)
		fprintf(stderr, "; its file system is full: set XDG_RUNTIME_DIR or TMPDIR to "
				"another folder");
	fputc('\n', stderr);
}

static int report(const struct run_daemon *d, int error)
{
	const char *how = error == -ETIMEDOUT ? "was not ready in time" : "did not start";

	if (wrote_something(d)) {
		fprintf(stderr, "uhca-run: the daemon %s; its last log lines:\n", how);
		run_dir_print_log(d->dir, d->log_from);
	} else if (error == -ECHILD || error == -EADDRINUSE) {
		report_silent(d, how);
	} else {
		fprintf(stderr, "uhca-run: the daemon %s: %s\n", how, strerror(-error));
	}
	return error;
}

/* What a daemon said whose addresses another had taken in between. */
static void forget_log(const struct run_daemon *d)
{
	char log[RUN_DIR_MAX + 8];
	snprintf(log, sizeof(log), "%s/log", d->dir->path);
	(void)!truncate(log, d->log_from);
}

int run_daemon_start(struct run_daemon *d)
{
	const struct machine *m = d->options->machine;
	unsigned n = m ? machine_ports(m) : d->options->devices;
	if (d->options->addressed) {
		int ret = start_once(d, 0);
		return ret == 0 ? 0 : report(d, ret);
	}
	struct run_addr_lease lease;
	int ret;
	for (unsigned from = 0; run_addr_lease(from, n, &lease); from = lease.block + 1) {
		ret = start_once(d, lease.block);
		run_addr_release(&lease);
		if (ret != -EADDRINUSE)
			return ret == 0 ? 0 : report(d, ret);
		forget_log(d);
	}
	/* None is free: the daemon knows best who has them, and says so. */
	ret = start_once(d, 0);
	if (ret == 0)
		return 0;
	return report(d, ret);
}

/* Waits for its end. False when it takes its time. */
static bool ends(pid_t pid, int *status)
{
	struct pollfd p = {.fd = ctl_pidfd_open(pid), .events = POLLIN};
	int step = p.fd < 0 ? STOP_POLL_MS : STOP_STEP_MS;
	pid_t ended = waitpid(pid, status, WNOHANG);

	for (int waited = 0; ended == 0 && waited < STOP_TIMEOUT_MS; waited += step) {
		poll(&p, 1, step);
		ended = waitpid(pid, status, WNOHANG);
	}
	if (p.fd >= 0)
		close(p.fd);
	return ended != 0;
}

int run_daemon_stop(pid_t pid)
{
	int status = 0;
	if (waitpid(pid, &status, WNOHANG) == pid)
		return status;
	kill(pid, SIGTERM);
	if (!ends(pid, &status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return status;
}

int run_daemon_connect(const char *dir)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/sock", dir);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	int error = -errno;
	close(fd);
	return error;
}
