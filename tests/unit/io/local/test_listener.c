/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The listening sockets: mode 0600, only the own user and root, and a process that runs out of
 * descriptors neither spins nor dies.
 */
#include "emu/io/base/log.h"
#include "emu/io/local/listener.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
	struct ev_loop *loop;
	struct io_listener l;
	char dir[64];
	char path[80];
	unsigned accepted;
	int last;
	struct ucred peer;
};

static void on_accept(void *arg, int sock, const struct ucred *peer)
{
	struct fixture *f = arg;

	if (f->last >= 0)
		close(f->last);
	f->last = sock;
	f->peer = *peer;
	f->accepted++;
}

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.last = -1, .l.accept = on_accept, .l.arg = &f};
	f.loop = ev_loop_new(EVFLAG_AUTO);
	io_test_dir(f.dir);
	snprintf(f.path, sizeof(f.path), "%s/sock", f.dir);
	assert_int_equal(io_listener_open(&f.l, f.loop, f.path, SOCK_SEQPACKET), 0);
	*state = &f;
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_listener_close(&f->l);
	io_listener_close(&f->l);
	assert_false(ev_run(f->loop, EVRUN_NOWAIT)); /* nobody is watched any more */
	if (f->last >= 0)
		close(f->last);
	ev_loop_destroy(f->loop);
	io_test_remove_dir(f->dir);
	io_log_close();
	return 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
		return -1;
	return fd;
}

static bool has_accepted(void *arg)
{
	return ((struct fixture *)arg)->accepted > 0;
}

static void test_own_user(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	int fd;

	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	fd = connect_to(f->path);
	assert_true(fd >= 0);
	assert_true(io_test_run(f->loop, has_accepted, f));
	assert_int_equal(f->peer.pid, getpid());
	assert_int_equal(f->peer.uid, geteuid());
	close(fd);
}

/* Another user: connects (0 otherwise) and finds the connection closed at once (1). */
static int try_as_nobody(const char *path)
{
	char byte;
	int fd;

	if (setresuid(65534, 65534, 65534) < 0)
		return 2;
	fd = connect_to(path);
	if (fd < 0)
		return 0;
	return recv(fd, &byte, 1, 0) == 0 ? 1 : 3;
}

static bool has_ended(void *arg)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t) * (pid_t *)arg, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

/* Even where modes would let it in. */
static void test_other_user(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t pid;

	if (geteuid() != 0)
		skip(); /* only root can be somebody else */
	chmod(f->dir, 0755);
	chmod(f->path, 0666);
	pid = fork();
	if (pid == 0)
		_exit(try_as_nobody(f->path));
	assert_true(io_test_run(f->loop, has_ended, &pid));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(f->accepted, 0);
}

static void test_no_descriptors(void **state)
{
	struct fixture *f = *state;
	int fd = connect_to(f->path);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct rlimit old;
	struct rlimit none;
	unsigned passes = 0;

	assert_true(fd >= 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	/* the reserve's number is taken again for the connection only below the limit */
	none.rlim_cur = (rlim_t)f->l.reserve + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	while (poll(&p, 1, 0) == 0 && passes++ < 1000)
		io_test_loop_pass(f->loop);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_in_range(passes, 0, 10);
	assert_int_equal(f->accepted, 0);
	close(fd);
	/* and later all is well again */
	fd = connect_to(f->path);
	assert_true(io_test_run(f->loop, has_accepted, f));
	close(fd);
}

/* A daemon may have been started without standard input: 0 is a number like any other. */
static void test_first_descriptor(void **state)
{
	struct fixture *f = *state;
	int fd = connect_to(f->path), input = dup(0);

	assert_true(fd > 0);
	close(0);
	assert_true(io_test_run(f->loop, has_accepted, f));
	assert_int_equal(f->last, 0);
	f->last = -1;
	if (input >= 0) {
		dup2(input, 0);
		close(input);
	}
	close(fd);
}

static void test_bad_paths(void **state)
{
	struct fixture *f = *state;
	struct io_listener l = {.accept = on_accept, .arg = f};
	char path[200];

	assert_int_equal(io_listener_open(&l, f->loop, f->path, SOCK_SEQPACKET), -EADDRINUSE);
	memset(path, 'x', 150);
	path[150] = '\0';
	assert_int_equal(io_listener_open(&l, f->loop, path, SOCK_SEQPACKET), -ENAMETOOLONG);
	assert_int_equal(io_listener_open(&l, f->loop, "/nonexistent/sock", SOCK_STREAM), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_own_user),         TEST(test_other_user), TEST(test_no_descriptors),
		TEST(test_first_descriptor), TEST(test_bad_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
