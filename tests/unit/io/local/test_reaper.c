/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What nobody waits for gets done: descriptors are closed, memory is unmapped; and a close that
 * does not end (a TCP socket with SO_LINGER whose peer reads nothing) holds up neither the caller
 * nor what comes behind it.
 */
#include "emu/io/base/clock.h"
#include "emu/io/local/reaper.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER   120 /* seconds */
#define STUCK    3
#define SECONDS  20
#define FAR_LESS (LINGER / 4 * IO_SEC)

static void test_close(void **state)
{
	int pipes[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	io_reaper_close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	assert_true(io_reaper_wait(SECONDS * 1000));
	assert_int_equal(fcntl(pipes[1], F_GETFD), -1);
	close(pipes[0]);
}

static unsigned threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(tasks);
	for (const struct dirent *e; (e = readdir(tasks));)
		n += e->d_name[0] != '.';
	closedir(tasks);
	return n;
}

/* No thread of the reaper's is left; who was joined may be listed for a moment more. */
static void end_all(void)
{
	uint64_t end = io_clock_now() + SECONDS * IO_SEC;

	io_reaper_end(SECONDS * 1000);
	while (threads() > 1)
		assert_true(io_clock_now() < end);
}

/* Bytes and a descriptor: they wait in the socket, whose sender has gone. */
static void leave_something(int sock, int fd)
{
	char bytes[] = "unread";
	struct iovec iov = {bytes, sizeof(bytes)};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.space = {0}};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
	assert_int_equal(sendmsg(sock, &msg, 0), sizeof(bytes));
}

/*
 * By the thread that asks, whatever kind of socket it is: an epoll set of that thread may still
 * have it, and would tell of it while another one closes it.
 */
static void hang_up(int type, bool with_something)
{
	int pair[2], pipes[2];
	char byte;

	end_all();
	assert_int_equal(socketpair(AF_UNIX, type, 0, pair), 0);
	assert_int_equal(pipe(pipes), 0);
	if (with_something)
		leave_something(pair[1], pipes[1]);
	close(pipes[1]);
	close(pair[1]);
	io_reaper_hang_up(pair[0]);
	assert_int_equal(fcntl(pair[0], F_GETFD), -1);
	if (!with_something)
		assert_int_equal(threads(), 1);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	assert_true(io_reaper_wait(SECONDS * 1000));
	close(pipes[0]);
}

static void test_hang_up(void **state)
{
	(void)state;
	hang_up(SOCK_SEQPACKET, false);
	hang_up(SOCK_STREAM, false);
	hang_up(SOCK_SEQPACKET, true);
	hang_up(SOCK_STREAM, true);
}

static bool is_mapped(const char *name)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, name) != NULL;
	fclose(f);
	return found;
}

/* Known by its name: the place may be another thread's at once. */
static void test_unmap(void **state)
{
	size_t size = 1u << 20;
	int fd = memfd_create("undertaken", MFD_CLOEXEC);
	void *base;

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	base = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(base != MAP_FAILED);
	close(fd);
	assert_true(is_mapped("/memfd:undertaken"));
	io_reaper_unmap(base, size);
	io_reaper_trim();
	assert_true(io_reaper_wait(SECONDS * 1000));
	assert_false(is_mapped("/memfd:undertaken"));
}

/* What another thread than the first one blocks. */
static unsigned long long blocked_by_thread(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned long long mask = 0;
	char path[64], line[256];

	assert_non_null(tasks);
	for (const struct dirent *e; (e = readdir(tasks));) {
		long tid = strtol(e->d_name, NULL, 10);
		FILE *f;

		if (tid == 0 || tid == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%ld/status", tid);
		f = fopen(path, "re"); /* one that was idle may just have gone */
		while (f && fgets(line, sizeof(line), f))
			sscanf(line, "SigBlk: %llx", &mask);
		if (f)
			fclose(f);
	}
	closedir(tasks);
	return mask;
}

/* A call that the sandbox refuses raises SIGSYS, which kills who blocks it. */
static void test_signals(void **state)
{
	const unsigned long long term = 1ull << (SIGTERM - 1), sys = 1ull << (SIGSYS - 1);
	uint64_t end = io_clock_now() + SECONDS * IO_SEC;

	(void)state;
	io_reaper_trim();
	assert_true(io_reaper_wait(SECONDS * 1000));
	/* libc blocks all of them while a thread begins */
	while ((blocked_by_thread() & (term | sys)) != term)
		assert_true(io_clock_now() < end);
	io_reaper_end(SECONDS * 1000);
}

/* At the end of the process no thread is left, whose stack would be; and it can begin anew. */
static void test_end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		io_reaper_trim();
		end_all();
	}
}

/* Two ends of a connection; the first has more to send than the second's host takes. */
static void make_stuck(int pair[2])
{
	const struct linger linger = {.l_onoff = 1, .l_linger = LINGER};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	static const char bytes[1 << 16];
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(pair[0], (struct sockaddr *)&at, sizeof(at)), 0);
	pair[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	assert_true(pair[1] >= 0);
	assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(pair[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(errno, EAGAIN);
}

static void test_stuck(void **state)
{
	uint64_t before = io_clock_now();
	int pair[STUCK][2];
	int pipes[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	for (unsigned i = 0; i < STUCK; i++) {
		make_stuck(pair[i]);
		io_reaper_close(pair[i][0]);
	}
	io_reaper_close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	assert_true(io_clock_now() - before < FAR_LESS);
	close(pipes[0]);
	/* Who closes with unread bytes ends the connection, and the wait. */
	for (unsigned i = 0; i < STUCK; i++)
		close(pair[i][1]);
	assert_true(io_reaper_wait(SECONDS * 1000));
	assert_true(io_clock_now() - before < FAR_LESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close), cmocka_unit_test(test_hang_up),
		cmocka_unit_test(test_unmap), cmocka_unit_test(test_signals),
		cmocka_unit_test(test_end),   cmocka_unit_test(test_stuck),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
