/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket: one exchange, and every way in which it goes wrong. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/base/rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct uhcav_rpc rpc;
static int peer;          /* the daemon's end */
static unsigned refusals; /* of the system, of messages with descriptors, to come */
static unsigned sleeps;   /* poll(2) with a time to wait */
static bool at_sleep;     /* the reply to the next call comes when it is slept for */

/* --wrap of the linker */
ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (msg->msg_controllen > 0 && refusals > 0) {
		refusals--;
		errno = ETOOMANYREFS;
		return -1;
	}
	return __real_sendmsg(fd, msg, flags);
}

static void prepare_reply(uint32_t cmd, uint32_t sequence, int32_t status, uint32_t size, int fd);

int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	sleeps++;
	if (at_sleep)
		prepare_reply(UHCA_CMD_ALLOC_PD, rpc.sequence, 0,
			      sizeof(struct uhca_cmd_handle_reply), -1);
	at_sleep = false;
	return __real_poll(fds, n, timeout);
}

static int setup(void **state)
{
	int pair[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return -1;
	rpc = (struct uhcav_rpc){.sock = pair[0], .timeout_ms = 5000};
	peer = pair[1];
	return pthread_mutex_init(&rpc.lock, NULL);
}

static int teardown(void **state)
{
	(void)state;
	uhcav_rpc_close(&rpc);
	close(peer);
	return 0;
}

/* A reply that is put into the socket before the request: the first has sequence number 1. */
static void prepare_reply(uint32_t cmd, uint32_t sequence, int32_t status, uint32_t size, int fd)
{
	union {
		char space[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = {.space = {0}};
	_Alignas(8) uint8_t buf[sizeof(struct uhca_cmd_refusal) + 8] = {0};
	struct uhca_cmd_reply *r = (void *)buf;
	struct iovec iov = {buf, size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	int fds[2] = {fd, fd};

	*r = (struct uhca_cmd_reply){cmd, size, sequence, status};
	if (status)
		memset(r + 1, 'w', sizeof(buf) - sizeof(*r));
	if (fd >= 0) {
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(sizeof(fds));
		memcpy(CMSG_DATA(&control.align), fds, sizeof(fds));
		msg.msg_control = control.space;
		msg.msg_controllen = sizeof(control.space);
	}
	assert_int_equal(sendmsg(peer, &msg, 0), size);
}

static struct uhca_cmd_handle request;
static struct uhca_cmd_handle_reply reply;

static struct uhcav_call a_call(void)
{
	return (struct uhcav_call){.request = &request.h,
				   .request_size = sizeof(request),
				   .cmd = UHCA_CMD_ALLOC_PD,
				   .reply = &reply.h,
				   .reply_size = sizeof(reply)};
}

static void test_exchange(void **state)
{
	struct uhcav_call call = a_call();
	struct uhca_cmd_handle got;

	(void)state;
	prepare_reply(UHCA_CMD_ALLOC_PD, 1, 0, sizeof(reply), -1);
	request.handle = 77;
	assert_int_equal(uhcav_rpc_call(&rpc, &call), 0);
	assert_false(call.lost);
	assert_int_equal(recv(peer, &got, sizeof(got), 0), sizeof(got));
	assert_int_equal(got.h.cmd, UHCA_CMD_ALLOC_PD);
	assert_int_equal(got.h.size, sizeof(got));
	assert_int_equal(got.h.sequence, 1);
	assert_int_equal(got.h.reserved, 0);
	assert_int_equal(got.handle, 77);
}

static void test_refusal(void **state)
{
	struct uhcav_call call = a_call();

	(void)state;
	prepare_reply(UHCA_CMD_ALLOC_PD, 1, -ENOMEM, sizeof(reply.h), -1);
	assert_int_equal(uhcav_rpc_call(&rpc, &call), -ENOMEM);
	assert_false(call.lost);
	/* The channel goes on. */
	prepare_reply(UHCA_CMD_ALLOC_PD, 2, 0, sizeof(reply), -1);
	assert_int_equal(uhcav_rpc_call(&rpc, &call), 0);
}

static void test_descriptors(void **state)
{
	struct uhcav_call call = a_call();
	int fd[2] = {7, 7};

	(void)state;
	call.recv_fd = fd;
	call.n_recv_fd = 2;
	prepare_reply(UHCA_CMD_ALLOC_PD, 1, 0, sizeof(reply), peer);
	assert_int_equal(uhcav_rpc_call(&rpc, &call), 0);
	assert_true(fcntl(fd[0], F_GETFD) & FD_CLOEXEC);
	close(fd[0]);
	close(fd[1]);
}

/* Others of this user have as many under way as there may be: for a while, or for too long. */
static void test_descriptors_refused(void **state)
{
	struct uhcav_call call = a_call();

	(void)state;
	call.send_fd = &peer;
	call.n_send_fd = 1;
	prepare_reply(UHCA_CMD_ALLOC_PD, 1, 0, sizeof(reply), -1);
	refusals = 3;
	assert_int_equal(uhcav_rpc_call(&rpc, &call), 0);
	assert_int_equal(refusals, 0);
	rpc.timeout_ms = 20;
	refusals = UINT_MAX;
	assert_int_equal(uhcav_rpc_call(&rpc, &call), -EIO);
	assert_true(call.lost);
	refusals = 0;
}

/* A reply that is there, or soon, is not slept for; one that takes longer is. */
static void test_looks(void **state)
{
	struct uhcav_call call = a_call();

	(void)state;
	sleeps = 0;
	prepare_reply(UHCA_CMD_ALLOC_PD, 1, 0, sizeof(reply), -1);
	assert_int_equal(uhcav_rpc_call(&rpc, &call), 0);
	assert_int_equal(sleeps, 0);
	at_sleep = true;
	errno = 0;
	assert_int_equal(uhcav_rpc_call(&rpc, &call), 0);
	assert_int_equal(sleeps, 1);
	assert_int_equal(errno, 0);
	assert_false(call.lost);
}

static int open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Answers that end the channel; no descriptor stays behind. */
static void test_nonsense(void **state)
{
	static const struct {
		uint32_t cmd, sequence;
		int32_t status;
		uint32_t size;
		unsigned fds;
	} cases[] = {
		{UHCA_CMD_ALLOC_PD, 2, 0, sizeof(reply), 0},
		{UHCA_CMD_REG_MR, 1, 0, sizeof(reply), 0},
		{UHCA_CMD_ALLOC_PD, 1, 0, sizeof(reply) - 1, 0},
		{UHCA_CMD_ALLOC_PD, 1, 0, sizeof(reply) + 8, 0},
		{UHCA_CMD_ALLOC_PD, 1, 0, 4, 0},
		{UHCA_CMD_ALLOC_PD, 1, 5, sizeof(reply.h), 0},
		{UHCA_CMD_ALLOC_PD, 1, -5000, sizeof(reply.h), 0},
		{UHCA_CMD_ALLOC_PD, 1, -ENOMEM, sizeof(struct uhca_cmd_refusal) + 1, 0},
		{UHCA_CMD_ALLOC_PD, 1, 0, sizeof(reply), 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct uhcav_call call = a_call();
		int fd = -1, before = open_fds();
		call.recv_fd = &fd;
		call.n_recv_fd = cases[i].fds; /* one of the two that come */
		prepare_reply(cases[i].cmd, cases[i].sequence, cases[i].status, cases[i].size,
			      cases[i].fds ? peer : -1);
		assert_int_equal(uhcav_rpc_call(&rpc, &call), -EIO);
		assert_true(call.lost);
		assert_int_equal(fd, -1);
		assert_int_equal(open_fds(), before);
		teardown(state);
		assert_int_equal(setup(state), 0);
	}
}

/* Why a call failed comes with the reply, as long as it is: beyond the room of the reply, too. */
static void test_why(void **state)
{
	static const uint32_t sizes[] = {sizeof(reply.h), sizeof(reply.h) + 1, sizeof(reply),
					 sizeof(struct uhca_cmd_refusal)};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct uhcav_call call = a_call();
		size_t n = sizes[i] - sizeof(reply.h);

		prepare_reply(UHCA_CMD_ALLOC_PD, 1, -EINVAL, sizes[i], -1);
		assert_int_equal(uhcav_rpc_call(&rpc, &call), -EINVAL);
		assert_false(call.lost);
		assert_int_equal(strspn(call.why, "w"), n < sizeof(call.why) ? n : n - 1);
		assert_int_equal(strlen(call.why), strspn(call.why, "w"));
		teardown(state);
		assert_int_equal(setup(state), 0);
	}
}

static void test_descriptors_missing(void **state)
{
	struct uhcav_call call = a_call();
	int fd[3] = {7, 7, 7}, before = open_fds();

	(void)state;
	call.recv_fd = fd;
	call.n_recv_fd = 3;
	prepare_reply(UHCA_CMD_ALLOC_PD, 1, 0, sizeof(reply), peer);
	assert_int_equal(uhcav_rpc_call(&rpc, &call), -EIO);
	assert_true(call.lost);
	assert_int_equal(fd[0], -1);
	assert_int_equal(open_fds(), before);
}

static void test_daemon_gone(void **state)
{
	struct uhcav_call call = a_call();

	(void)state;
	shutdown(peer, SHUT_RDWR);
	assert_int_equal(uhcav_rpc_call(&rpc, &call), -EIO);
	assert_true(call.lost);
	assert_int_equal(uhcav_rpc_call(&rpc, &call), -EIO);
}

static void test_silence(void **state)
{
	struct uhcav_call call = a_call();

	(void)state;
	rpc.timeout_ms = 20;
	assert_int_equal(uhcav_rpc_call(&rpc, &call), -EIO);
	assert_true(call.lost);
	/* A late answer is not taken for that of the next call. */
	prepare_reply(UHCA_CMD_ALLOC_PD, 1, 0, sizeof(reply), -1);
	assert_int_equal(uhcav_rpc_call(&rpc, &call), -EIO);
}

static void test_connect(void **state)
{
	char path[300];
	struct uhcav_rpc c;

	(void)state;
	assert_int_equal(uhcav_rpc_connect(&c, "/nonexistent/sock"), -ENOENT);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(uhcav_rpc_connect(&c, path), -ENAMETOOLONG);
	path[sizeof(((struct sockaddr_un *)NULL)->sun_path)] = '\0'; /* no room for the end */
	assert_int_equal(uhcav_rpc_connect(&c, path), -ENAMETOOLONG);
}

static void *call_cancelled(void *status)
{
	struct uhcav_call call = a_call();

	pthread_cancel(pthread_self());
	*(int *)status = uhcav_rpc_call(&rpc, &call);
	pthread_testcancel();
	return NULL;
}

/* A thread that is cancelled comes to the end of its call, and no lock stays behind. */
static void test_cancelled(void **state)
{
	struct uhcav_call call = a_call();
	pthread_t thread;
	int status = 1;
	void *result;

	(void)state;
	for (uint32_t sequence = 1; sequence <= 2; sequence++)
		prepare_reply(UHCA_CMD_ALLOC_PD, sequence, 0, sizeof(reply), -1);
	assert_int_equal(pthread_create(&thread, NULL, call_cancelled, &status), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_int_equal(status, 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(pthread_mutex_trylock(&rpc.lock), 0);
	pthread_mutex_unlock(&rpc.lock);
	assert_int_equal(uhcav_rpc_call(&rpc, &call), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_exchange),
		TEST(test_refusal),
		TEST(test_descriptors),
		TEST(test_descriptors_refused),
		TEST(test_nonsense),
		TEST(test_why),
		TEST(test_descriptors_missing),
		TEST(test_why),
		TEST(test_descriptors_missing),
		TEST(test_daemon_gone),
		TEST(test_silence),
		TEST(test_connect),
		TEST(test_looks),
		TEST(test_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
