/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a confined process can do, and what it cannot: each call of a list, by a child that has the
 * daemon's filter. A refused one fails, with EPERM where it is there with other arguments, and the
 * process goes on.
 */
#include "emu/io/sandbox/calls.h"
#include "tests/support/io/confined.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/fs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>

static char dir[64];
static char file[128];

/* ---- refused ---- */

#define WRITE_MODE (O_WRONLY | O_CREAT | O_CLOEXEC)
#define A_NEW_CALL 451 /* newer than what the filter tells */

static const struct refused {
	const char *what;
	long number;
	long arg[6];
	int error;
} refused[] = {
	{"another program", SYS_execve, {(long)"/bin/true"}, ENOSYS},
	{"another program, by descriptor", SYS_execveat, {AT_FDCWD, (long)"/bin/true"}, ENOSYS},
	{"another process", SYS_clone, {SIGCHLD}, EPERM},
	{"another process, the new way", SYS_clone3, {0}, ENOSYS},
#ifdef SYS_fork
	{"another process, the old way", SYS_fork, {0}, ENOSYS},
	{"another process for a moment", SYS_vfork, {0}, ENOSYS},
#endif
	{"a new namespace", SYS_unshare, {CLONE_NEWUSER}, ENOSYS},
	{"tracing", SYS_ptrace, {PTRACE_TRACEME}, ENOSYS},
	{"descriptors of others", SYS_pidfd_getfd, {0}, ENOSYS},
	{"a signal to another one", SYS_kill, {1, 0}, EPERM},
	{"a signal to all", SYS_kill, {-1, 0}, EPERM},
	{"a signal to another one's thread", SYS_tgkill, {1, 1, 0}, EPERM},
	{"TCP", SYS_socket, {AF_INET, SOCK_STREAM, 0}, EPERM},
	{"TCP, with flags", SYS_socket, {AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0}, EPERM},
	{"raw IP", SYS_socket, {AF_INET, SOCK_RAW, IPPROTO_ICMP}, EPERM},
	{"ping", SYS_socket, {AF_INET, SOCK_DGRAM, IPPROTO_ICMP}, EPERM},
	{"frames", SYS_socket, {AF_PACKET, SOCK_DGRAM, 0}, EPERM},
	{"a Unix stream", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, EPERM},
	{"netlink of another kind", SYS_socket, {AF_NETLINK, SOCK_RAW, 9}, EPERM},
	{"listening", SYS_listen, {0, 1}, ENOSYS},
	{"reading and writing", SYS_openat, {AT_FDCWD, (long)file, O_RDWR}, EPERM},
	{"writing through links", SYS_openat, {AT_FDCWD, (long)file, WRITE_MODE, 0600}, EPERM},
	{"making for reading", SYS_openat, {AT_FDCWD, (long)file, O_CREAT, 0600}, EPERM},
	{"emptying for reading", SYS_openat, {AT_FDCWD, (long)file, O_TRUNC}, EPERM},
	{"another way to open", SYS_openat2, {AT_FDCWD, (long)file}, ENOSYS},
	{"links", SYS_linkat, {AT_FDCWD, (long)file, AT_FDCWD, (long)file, 0}, ENOSYS},
	{"links to names", SYS_symlinkat, {(long)file, AT_FDCWD, (long)file}, ENOSYS},
	{"rights of files", SYS_fchmodat, {AT_FDCWD, (long)file, 0777}, ENOSYS},
	{"owners of files", SYS_fchownat, {AT_FDCWD, (long)file, 0, 0, 0}, ENOSYS},
	{"special files", SYS_mknodat, {AT_FDCWD, (long)file, S_IFIFO}, ENOSYS},
	{"mounts", SYS_mount, {0}, ENOSYS},
	{"another root", SYS_chroot, {(long)"/"}, ENOSYS},
	{"memory that is code",
	 SYS_mmap,
	 {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1},
	 EPERM},
	{"memory that becomes code", SYS_mprotect, {0, 4096, PROT_EXEC}, EPERM},
	{"another user", SYS_setuid, {0}, ENOSYS},
	{"another group", SYS_setresgid, {0}, ENOSYS},
	{"capabilities", SYS_capset, {0}, ENOSYS},
	{"no dumps", SYS_prctl, {PR_SET_DUMPABLE, 0}, EPERM},
	{"other limits", SYS_prlimit64, {0, RLIMIT_NOFILE, 1}, EPERM},
	{"another filter", SYS_seccomp, {0}, ENOSYS},
	{"programs of the kernel", SYS_bpf, {0}, ENOSYS},
	{"modules of the kernel", SYS_finit_module, {0}, ENOSYS},
	{"calls without calls", SYS_io_uring_setup, {0}, ENOSYS},
	{"faults of others", SYS_userfaultfd, {0}, ENOSYS},
	{"keys", SYS_keyctl, {0}, ENOSYS},
	{"input of a terminal", SYS_ioctl, {0, TIOCSTI}, EPERM},
	{"signals of descriptors", SYS_fcntl, {0, F_SETOWN, 1}, EPERM},
	{"a call of tomorrow", A_NEW_CALL, {0}, ENOSYS},
};

static int try_refused(struct ev_loop *loop, void *arg)
{
	const struct refused *r = arg;
	long result;

	(void)loop;
	errno = 0;
	result = syscall(r->number, r->arg[0], r->arg[1], r->arg[2], r->arg[3], r->arg[4],
			 r->arg[5]);
	if (result == -1 && errno == r->error)
		return 0;
	fprintf(stderr, "%s: %ld, %s\n", r->what, result, strerror(errno));
	return 1;
}

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct refused r = refused[i];

		assert_int_equal(confined_run("/dev/null", try_refused, &r), 0);
		if (r.error == EPERM)
			assert_true(io_calls_has((int)r.number));
	}
}

/* ---- left ---- */

static void *be_a_thread(void *arg)
{
	void *p = malloc(1u << 20);

	*(bool *)arg = p != NULL;
	free(p);
	return NULL;
}

static bool threads(void)
{
	pthread_t t;
	bool ran = false;

	return pthread_create(&t, NULL, be_a_thread, &ran) == 0 && pthread_join(t, NULL) == 0 &&
	       ran;
}

static bool files(void)
{
	int out = open(file, WRITE_MODE | O_TRUNC | O_NOFOLLOW, 0600);
	int in = open(file, O_RDONLY | O_CLOEXEC);
	char c = 0;
	bool ok = out >= 0 && in >= 0 && write(out, "x", 1) == 1 && ftruncate(out, 1) == 0 &&
		  read(in, &c, 1) == 1 && c == 'x' && unlink(file) == 0;

	return close(out) == 0 && close(in) == 0 && ok;
}

static bool udp(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = errno;
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(9),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	bool ok = fd >= 0 &&
		  (family != AF_INET || connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);

	if (fd >= 0)
		close(fd);
	return ok || (fd < 0 && error == EAFNOSUPPORT);
}

static bool interfaces(void)
{
	struct ifaddrs *list;

	if (getifaddrs(&list) < 0)
		return false;
	freeifaddrs(list);
	return if_nametoindex("lo") != 0;
}

static bool memory(void)
{
	char from = 'x', to = 0;
	struct iovec local = {&to, 1}, remote = {&from, 1};
	int shared = memfd_create("test", MFD_CLOEXEC);
	void *p = mmap(NULL, 1u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p != MAP_FAILED && mprotect(p, 4096, PROT_READ) == 0 && munmap(p, 1u << 20) == 0 &&
	       process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 && to == 'x' &&
	       shared >= 0 && ftruncate(shared, 4096) == 0 && close(shared) == 0;
}

static bool descriptors(void)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	int event = eventfd(0, EFD_CLOEXEC);
	int set = epoll_create1(EPOLL_CLOEXEC);
	int block;
	int folder = open(dir, O_RDONLY | O_DIRECTORY);

	return timer >= 0 && event >= 0 && set >= 0 && close(timer) == 0 && close(event) == 0 &&
	       close(set) == 0 && ioctl(folder, FIGETBSZ, &block) == 0 && close(folder) == 0;
}

static bool itself(void)
{
	struct rlimit r;

	openlog("test_calls", LOG_NDELAY, LOG_USER);
	closelog();
	return kill(getpid(), 0) == 0 && getrlimit(RLIMIT_NOFILE, &r) == 0;
}

static int try_left(struct ev_loop *loop, void *arg)
{
	(void)loop;
	(void)arg;
	if (!threads())
		return 1;
	if (!files())
		return 2;
	if (!udp(AF_INET) || !udp(AF_INET6) || !udp(AF_UNIX))
		return 3;
	if (!interfaces())
		return 4;
	if (!memory())
		return 5;
	if (!descriptors())
		return 6;
	return itself() ? 0 : 7;
}

static void test_left(void **state)
{
	(void)state;
	assert_int_equal(confined_run("", try_left, NULL), 0);
}

static int kill_itself(struct ev_loop *loop, void *arg)
{
	(void)loop;
	(void)arg;
	return kill(getpid(), SIGKILL); /* a fault rule orders it */
}

static void test_kill_itself(void **state)
{
	(void)state;
	assert_int_equal(confined_run("", kill_itself, NULL), 101);
}

static void test_names(void **state)
{
	char *name = io_calls_name(SYS_execve);

	(void)state;
	assert_string_equal(name, "execve");
	free(name);
	assert_null(io_calls_name(100000));
	assert_false(io_calls_has(SYS_execve));
	assert_true(io_calls_has(SYS_read));
}

static int setup(void **state)
{
	(void)state;
	io_test_dir(dir);
	snprintf(file, sizeof(file), "%s/file", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_remove_dir(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_kill_itself),
		cmocka_unit_test(test_names),
	};

	if (!confined_possible()) {
		puts("seccomp(2) has no filters here");
		return 77;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
