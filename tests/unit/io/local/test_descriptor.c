/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors of a file system that does not answer: what they are is found out without it, nobody
 * waits for their end, and a daemon that is given them goes on. Where this waits for ever, so did
 * the daemon: an alarm ends the test.
 */
#include "emu/io/base/log.h"
#include "emu/io/local/local.h"
#include "tests/support/io/deaf_fs.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_S 300 /* seconds */

static struct deaf_fs *fs;
static char dir[64];
static char path[128];

/* How a hostile client would name it. */
static int open_deaf(void)
{
	const char *why;
	int fd;

	fs = deaf_fs_mount(dir, &why);
	if (!fs) {
		io_test_remove_dir(dir);
		io_log_close();
		printf("# skipped: %s\n", why);
		exit(77);
	}
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* All that is still open can be closed then. */
static void umount_deaf(void)
{
	deaf_fs_end(fs, dir);
	fs = NULL;
}

/* Whatever else procfs has that can be written to, by whatever name. */
static void test_other_proc_files(void **state)
{
	static const char *const other[] = {"/proc/self/oom_score_adj", "/proc/self/comm",
					    "/proc/self/coredump_filter", "/proc/self/uid_map"};

	(void)state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		int fd = open(other[i], O_RDWR | O_CLOEXEC);

		assert_true(fd >= 0);
		assert_false(io_descriptor_is_memory(fd));
		close(fd);
	}
}

/* A process that has ended has no memory any more. */
static void test_memory_that_is_gone(void **state)
{
	pid_t pid = fork();
	int fd;

	(void)state;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/mem", dir);
	assert_true(io_descriptor_is_memory(fd));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(io_descriptor_is_memory(fd));
	close(fd);
}

static void test_is_memory(void **state)
{
	int proc = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	int readable = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_true(io_descriptor_is_memory(proc));
	assert_false(io_descriptor_is_memory(readable));
	assert_false(io_descriptor_is_memory(null));
	assert_false(io_descriptor_is_memory(-1));
	close(proc);
	close(readable);
	close(null);
}

static void test_file(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t id[2];
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(io_descriptor_file(fd, id), 0);
	assert_int_equal(id[0], st.st_dev);
	assert_int_equal(id[1], st.st_ino);
	assert_int_equal(io_descriptor_socket(fd), 0);
	close(fd);
	assert_int_equal(io_descriptor_file(fd, id), -EBADF);
	fd = open("/proc/self/exe", O_PATH | O_CLOEXEC); /* nobody asked whether we may */
	assert_int_equal(io_descriptor_file(fd, id), -EBADF);
	close(fd);
}

static void test_socket(void **state)
{
	int pair[2], copy;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	copy = dup(pair[0]);
	assert_true(io_descriptor_socket(pair[0]) != 0);
	assert_true(io_descriptor_socket(copy) == io_descriptor_socket(pair[0]));
	assert_true(io_descriptor_socket(pair[1]) != io_descriptor_socket(pair[0]));
	close(copy);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(io_descriptor_socket(pair[0]), 0);
}

/* The file of a socket is none. */
static void test_socket_file(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), fd;

	(void)state;
	snprintf(un.sun_path, sizeof(un.sun_path), "%s/socket", dir);
	assert_int_equal(bind(sock, (struct sockaddr *)&un, sizeof(un)), 0);
	fd = open(un.sun_path, O_PATH | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(io_descriptor_socket(fd), 0);
	unlink(un.sun_path);
	close(fd);
	close(sock);
}

/* What only a file system that does not answer shows. */
static void test_deaf(void **state)
{
	int fd = open_deaf();
	uint64_t id[2];

	(void)state;
	assert_false(io_descriptor_is_memory(fd));
	assert_int_equal(io_descriptor_socket(fd), 0);
	assert_int_equal(io_descriptor_file(fd, id), 0);
	assert_true(id[1] != 0);
	io_reaper_close(fd);
	assert_false(io_reaper_wait(10)); /* else it tests nothing */
	umount_deaf();
	assert_true(io_reaper_wait(TIMEOUT_S * 1000));
}

static int hello(struct io_test_daemon *t, struct io_test_client *c, int mem, int async)
{
	struct uhca_cmd_hello in = io_test_hello_request("uhca0");
	int fd[2] = {mem, async};

	io_test_connect(c, &t->d);
	return io_test_call_fds(c, UHCA_CMD_HELLO, &in, sizeof(in), fd, 2);
}

/* A client that hands over nothing else beside one that works. */
static void test_daemon(void **state)
{
	struct uhca_cmd_open_xrcd xrcd = {.oflags = UHCA_ABI_XRCD_CREATE};
	struct io_test_client c[2], bystander;
	struct io_test_daemon t;
	struct io_settings s;
	int fd = open_deaf();

	(void)state;
	io_test_settings(&s, 1);
	io_test_daemon_start(&t, &s);
	io_test_hello(&bystander, &t.d, "uhca0");
	assert_int_equal(hello(&t, &c[0], fd, fd), -EINVAL);
	assert_int_equal(hello(&t, &c[1], bystander.mem, fd), -EINVAL);
	assert_int_equal(io_test_call_fds(&bystander, UHCA_CMD_CREATE_CHANNEL,
					  &(struct uhca_cmd_handle){0},
					  sizeof(struct uhca_cmd_handle), &fd, 1),
			 -EINVAL);
	assert_int_equal(
		io_test_call_fds(&bystander, UHCA_CMD_OPEN_XRCD, &xrcd, sizeof(xrcd), &fd, 1), 0);
	assert_int_equal(io_test_handle(&bystander, UHCA_CMD_QUERY_DEVICE, 0, NULL), 0);
	io_reaper_close(fd);
	umount_deaf();
	for (unsigned i = 0; i < 2; i++)
		io_test_disconnect(&c[i]);
	io_test_disconnect(&bystander);
	io_test_daemon_stop(&t);
}

static int setup(void **state)
{
	(void)state;
	alarm(TIMEOUT_S);
	io_test_dir(dir);
	snprintf(path, sizeof(path), "%s/mem", dir);
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	(void)state;
	if (fs)
		umount_deaf();
	io_test_remove_dir(dir);
	io_log_close();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_memory),
		cmocka_unit_test(test_other_proc_files),
		cmocka_unit_test(test_memory_that_is_gone),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_socket),
		cmocka_unit_test(test_socket_file),
		cmocka_unit_test(test_deaf),
		cmocka_unit_test(test_daemon),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
