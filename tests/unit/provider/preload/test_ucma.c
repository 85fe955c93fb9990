/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The preload library's rdma_cm device: what of a program's open, write and reads reaches the
 * daemon, what comes back, and what a program sees of the device when the daemon has gone.
 */
#include "tests/support/provider/fake_cm.h"
#include "tests/support/provider/fake_tree.h"
#include "tests/support/provider/holdings.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define DEVICE  "/dev/infiniband/rdma_cm"
#define REMOVAL 11 /* enum rdma_cm_event_type */
#define GUARD   0x5a

/* As much of a command as the device takes beside its own header. */
#define LONGEST (UHCA_UCMA_MAX - sizeof(struct uhca_ucma_request))

static struct fake_cm cm;

/* What Linux may do to a reader for whom a message and the end of the socket come together. */
static unsigned early_ends;

__attribute__((visibility("default"))) ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (early_ends > 0 && flags == 0 && poll(&p, 1, -1) == 1) {
		early_ends--;
		return 0;
	}
	return recvfrom(fd, buf, len, flags, NULL, NULL);
}

static int start(void **state)
{
	(void)state;
	fake_cm_start(&cm);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	fake_cm_stop(&cm);
	return 0;
}

static int open_device(int flags)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC | flags);

	assert_true(fd >= 0);
	return fd;
}

/* Where responses go; nothing but these may change. */
static struct {
	uint8_t bytes[64];
} answer;

static void clear_answer(void)
{
	memset(&answer, GUARD, sizeof(answer));
}

/* Writes a command with len bytes of its structure and "more" that do not belong to it. */
static int put_command(int fd, uint32_t cmd, const void *in, size_t len, size_t more)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t body[2048];
	} msg = {.hdr = {.cmd = cmd, .in = (uint16_t)len, .out = sizeof(answer)}};
	ssize_t n;

	memcpy(msg.body, in, len);
	clear_answer();
	errno = 0;
	n = write(fd, &msg, sizeof(msg.hdr) + len + more);
	if (n < 0)
		return -errno;
	assert_int_equal(errno, 0); /* what succeeds says nothing in it */
	assert_int_equal(n, sizeof(msg.hdr) + len + more);
	return 0;
}

#define PUT(fd, cmd, in)  put_command(fd, RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), 0)
#define GOOD(fd, cmd, in) assert_int_equal(PUT(fd, cmd, in), 0)
#define ANSWER            ((uintptr_t)&answer)

/* Exactly len bytes have been stored. */
static void assert_answered(const void *bytes, size_t len)
{
	if (len > 0)
		assert_memory_equal(answer.bytes, bytes, len);
	for (size_t i = len; i < sizeof(answer); i++)
		assert_int_equal(answer.bytes[i], GUARD);
}

static void assert_heard(uint32_t cmd, const void *in, size_t len)
{
	const struct rdma_ucm_cmd_hdr *hdr = (const void *)cm.body;

	assert_int_equal(cm.h.magic, UHCA_UCMA_MAGIC);
	assert_int_equal(cm.h.cmd, cmd);
	assert_int_equal(cm.h.option, 0);
	assert_int_equal(cm.h.length, sizeof(*hdr) + len);
	assert_int_equal(cm.n_body, sizeof(*hdr) + len);
	assert_int_equal(hdr->cmd, cmd);
	assert_memory_equal(hdr + 1, in, len);
}

/* ---- open ---- */

static void test_open(void **state)
{
	struct holdings before = holdings_now();
	struct stat st;
	int fd = open_device(0), second;

	(void)state;
	assert_int_equal(cm.hellos, 1);
	assert_int_equal(cm.n_fds, 2);
	assert_int_equal(cm.second, fake_cm_number(fd)); /* the connection itself */
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_rdev, makedev(10, 58));
	second = open(DEVICE, O_RDWR | O_NONBLOCK);
	assert_true(second >= 0);
	assert_false(fcntl(second, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(second, F_GETFL) & O_NONBLOCK);
	assert_int_equal(cm.hellos, 2);
	close(fd);
	close(second);
	for (int i = 0; i < 10000 && (cm.file[0] >= 0 || cm.file[1] >= 0); i++)
		poll(NULL, 0, 1);
	holdings_assert(before);
}

static void refused(void)
{
	errno = 0;
	assert_int_equal(open(DEVICE, O_RDWR), -1);
	assert_int_equal(errno, ENODEV);
}

static void test_open_refused(void **state)
{
	struct holdings before;

	(void)state;
	fake_cm_will(&cm, NULL, 0)->status = -EPERM;
	refused();
	fake_cm_will(&cm, NULL, 0)->no_answer = true;
	refused();
	fake_cm_stop(&cm);
	before = holdings_now();
	refused();
	holdings_assert(before);
	/* What only begins as the device does is a file like any other. */
	errno = 0;
	assert_int_equal(open(DEVICE "2", O_RDWR), -1);
	assert_int_equal(errno, ENOENT);
}

/* Sockets of others are theirs: their bytes arrive as they are, errno is left alone. */
static void test_others(void **state)
{
	struct rdma_ucm_cmd_hdr hdr = {.cmd = RDMA_USER_CM_CMD_LISTEN}, got;
	int fd = open_device(0), pair[2];
	struct stat st;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	errno = 77;
	assert_int_equal(write(pair[0], &hdr, sizeof(hdr)), sizeof(hdr));
	assert_int_equal(errno, 77);
	assert_int_equal(read(pair[1], &got, sizeof(got)), sizeof(got));
	assert_memory_equal(&got, &hdr, sizeof(hdr));
	assert_int_equal(cm.h.cmd, UHCA_UCMA_HELLO);
	assert_int_equal(fstat(pair[0], &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	close(pair[0]);
	close(pair[1]);
	close(fd);
}

/* ---- commands ---- */

static void test_write(void **state)
{
	struct rdma_ucm_listen in = {.id = 4, .backlog = 7};
	int fd = open_device(0), copy = dup(fd);

	(void)state;
	GOOD(fd, LISTEN, in);
	assert_heard(RDMA_USER_CM_CMD_LISTEN, &in, sizeof(in));
	assert_int_equal(cm.n_fds, 1);
	assert_answered(NULL, 0);
	/* Bytes beyond what the header says are taken and mean nothing. */
	assert_int_equal(put_command(copy, RDMA_USER_CM_CMD_LISTEN, &in, sizeof(in), 9), 0);
	assert_heard(RDMA_USER_CM_CMD_LISTEN, &in, sizeof(in));
	fake_cm_will(&cm, NULL, 0)->status = -EADDRINUSE;
	assert_int_equal(PUT(fd, LISTEN, in), -EADDRINUSE);
	close(copy);
	close(fd);
}

static void test_answer_with_the_end(void **state)
{
	struct rdma_ucm_listen in = {.id = 4, .backlog = 7};
	int fd = open_device(0);

	(void)state;
	early_ends = 1;
	GOOD(fd, LISTEN, in);
	assert_int_equal(early_ends, 0);
	assert_heard(RDMA_USER_CM_CMD_LISTEN, &in, sizeof(in));
	close(fd);
}

static void test_malformed(void **state)
{
	static const uint8_t zeros[LONGEST];
	const size_t room = LONGEST - sizeof(struct rdma_ucm_cmd_hdr);
	struct rdma_ucm_cmd_hdr hdr = {.cmd = RDMA_USER_CM_CMD_LISTEN, .in = 1};
	int fd = open_device(0);

	(void)state;
	assert_int_equal(write(fd, &hdr, sizeof(hdr) - 1), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(write(fd, &hdr, sizeof(hdr)), -1); /* a byte less than it says */
	assert_int_equal(errno, EINVAL);
	assert_int_equal(put_command(fd, RDMA_USER_CM_CMD_LISTEN, zeros, 0, room + 1), -EINVAL);
	assert_int_equal(cm.h.cmd, UHCA_UCMA_HELLO);
	assert_int_equal(put_command(fd, RDMA_USER_CM_CMD_LISTEN, zeros, 0, 0), 0);
	assert_int_equal(cm.n_body, sizeof(hdr));
	assert_int_equal(put_command(fd, RDMA_USER_CM_CMD_LISTEN, zeros, room, 0), 0);
	assert_int_equal(cm.n_body, LONGEST);
	close(fd);
}

/* The response goes where the command says, as much of it as there is room for. */
static void test_response(void **state)
{
	static const uint32_t cmds[] = {
		RDMA_USER_CM_CMD_DESTROY_ID,   RDMA_USER_CM_CMD_LEAVE_MCAST,
		RDMA_USER_CM_CMD_QUERY_ROUTE,  RDMA_USER_CM_CMD_QUERY,
		RDMA_USER_CM_CMD_INIT_QP_ATTR, RDMA_USER_CM_CMD_JOIN_IP_MCAST,
		RDMA_USER_CM_CMD_JOIN_MCAST,
	};
	static const uint8_t response[sizeof(answer)] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	struct rdma_ucm_create_id create = {.uid = ANSWER, .response = ANSWER + 1};
	uint64_t at_first[2] = {ANSWER, 0};
	int fd = open_device(0);

	(void)state;
	for (unsigned i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++) {
		fake_cm_will(&cm, response, 12);
		assert_int_equal(put_command(fd, cmds[i], at_first, sizeof(at_first), 0), 0);
		assert_answered(response, 12);
		fake_cm_will(&cm, response, sizeof(answer));
		assert_int_equal(put_command(fd, cmds[i], at_first, sizeof(at_first[0]), 0), 0);
		assert_answered(response, sizeof(answer));
		fake_cm_will(&cm, response, 12); /* without an address it goes nowhere */
		assert_int_equal(put_command(fd, cmds[i], at_first, 7, 0), 0);
		assert_answered(NULL, 0);
	}
	fake_cm_will(&cm, response, 4);
	GOOD(fd, CREATE_ID, create);
	assert_int_equal(answer.bytes[0], GUARD);
	assert_memory_equal(answer.bytes + 1, response, 4);
	assert_int_equal(answer.bytes[5], GUARD);
	fake_cm_will(&cm, response, 4);
	assert_int_equal(put_command(fd, RDMA_USER_CM_CMD_CREATE_ID, &create, 15, 0), 0);
	assert_answered(NULL, 0);
	close(fd);
}

static void test_response_room(void **state)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_init_qp_attr in;
	} msg = {{RDMA_USER_CM_CMD_INIT_QP_ATTR, sizeof(msg.in), 3}, {.response = ANSWER}};
	int fd = open_device(0);

	(void)state;
	clear_answer();
	fake_cm_will(&cm, "abcdef", 6);
	assert_int_equal(write(fd, &msg, sizeof(msg)), sizeof(msg));
	assert_answered("abc", 3);
	close(fd);
}

/* What is no reply means that there is no daemon. */
static void test_nonsense(void **state)
{
	/* At last one byte of the header is left. */
	static const int cut[] = {1, -1, 3 + (int)sizeof(struct uhca_ucma_reply)};
	struct rdma_ucm_listen in = {.id = 4};
	int fd = open_device(0);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		fake_cm_will(&cm, "abcd", 4)->cut = cut[i];
		assert_int_equal(PUT(fd, LISTEN, in), -EIO);
	}
	fake_cm_will(&cm, NULL, 0)->cut = 1;
	assert_int_equal(PUT(fd, LISTEN, in), -EIO);
	fake_cm_will(&cm, NULL, 0)->no_answer = true;
	assert_int_equal(PUT(fd, LISTEN, in), -EIO);
	GOOD(fd, LISTEN, in); /* which may be another one's mistake */
	fake_cm_stop(&cm);
	assert_int_equal(PUT(fd, LISTEN, in), -EIO);
	close(fd);
}

/* The value stands elsewhere, and travels along. */
static void test_option(void **state)
{
	static uint8_t value[UHCA_UCMA_MAX] = {9, 8, 7};
	struct rdma_ucm_set_option in = {.optval = (uintptr_t)value, .id = 5, .optlen = 3};
	const size_t before = sizeof(struct rdma_ucm_cmd_hdr) + sizeof(in);
	int fd = open_device(0);

	(void)state;
	GOOD(fd, SET_OPTION, in);
	assert_int_equal(cm.h.option, 3);
	assert_int_equal(cm.h.length, before + 3);
	assert_int_equal(cm.n_body, before + 3);
	assert_memory_equal(cm.body + sizeof(struct rdma_ucm_cmd_hdr), &in, sizeof(in));
	assert_memory_equal(cm.body + before, value, 3);
	in.optlen = (uint32_t)(LONGEST - before);
	GOOD(fd, SET_OPTION, in);
	assert_int_equal(cm.n_body, LONGEST);
	cm.n_body = 0;
	in.optlen++;
	assert_int_equal(PUT(fd, SET_OPTION, in), -EINVAL);
	in.optlen = 1;
	assert_int_equal(put_command(fd, RDMA_USER_CM_CMD_SET_OPTION, &in, sizeof(in) - 1, 0),
			 -EINVAL);
	assert_int_equal(cm.n_body, 0);
	close(fd);
}

static void test_migrate(void **state)
{
	int old = open_device(0), fd = open_device(0);
	struct rdma_ucm_migrate_id in = {.response = ANSWER, .id = 5, .fd = (uint32_t)old};
	uint32_t reported = 3;

	(void)state;
	fake_cm_will(&cm, &reported, 4);
	GOOD(fd, MIGRATE_ID, in);
	assert_heard(RDMA_USER_CM_CMD_MIGRATE_ID, &in, sizeof(in));
	assert_int_equal(cm.n_fds, 2);
	assert_int_equal(cm.second, fake_cm_number(old));
	assert_answered(&reported, 4);
	cm.n_body = 0;
	in.fd = STDIN_FILENO;
	assert_int_equal(PUT(fd, MIGRATE_ID, in), -EINVAL);
	in.fd = (uint32_t)old;
	assert_int_equal(put_command(fd, RDMA_USER_CM_CMD_MIGRATE_ID, &in, sizeof(in) - 1, 0),
			 -EINVAL);
	assert_int_equal(cm.n_body, 0);
	close(fd);
	close(old);
}

/* ---- events ---- */

static int readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0);
}

/* The token is brought back when the daemon says that nothing is left, if it was there. */
static void test_token(void **state)
{
	int old = open_device(0), fd = open_device(0);
	struct rdma_ucm_migrate_id migrate = {.id = 5, .fd = (uint32_t)old};
	struct rdma_ucm_listen in = {.id = 4};

	(void)state;
	fake_cm_token(&cm, 1);
	GOOD(fd, LISTEN, in);
	assert_int_equal(cm.tokens, 0);
	assert_int_equal(readable(fd), 1);
	fake_cm_will(&cm, NULL, 0)->flags = UHCA_UCMA_TAKE_TOKEN;
	GOOD(fd, LISTEN, in);
	assert_int_equal(cm.tokens, 1);
	assert_int_equal(cm.token_of, 1);
	assert_int_equal(readable(fd), 0);
	fake_cm_will(&cm, NULL, 0)->flags = UHCA_UCMA_TAKE_TOKEN;
	GOOD(fd, LISTEN, in);
	assert_int_equal(cm.tokens, 1);
	/* Of an id that moves, the events were the old open's. */
	fake_cm_token(&cm, 0);
	fake_cm_will(&cm, NULL, 0)->flags = UHCA_UCMA_TAKE_TOKEN;
	GOOD(fd, MIGRATE_ID, migrate);
	assert_int_equal(cm.tokens, 2);
	assert_int_equal(cm.token_of, 0);
	assert_int_equal(readable(old), 0);
	close(fd);
	close(old);
}

static int get_event(int fd)
{
	struct rdma_ucm_get_event in = {.response = ANSWER};

	return PUT(fd, GET_EVENT, in);
}

static void test_event(void **state)
{
	int fd = open_device(O_NONBLOCK);

	(void)state;
	assert_int_equal(get_event(fd), -EAGAIN);
	assert_int_equal(cm.h.cmd, UHCA_UCMA_HELLO); /* it need not be asked */
	fake_cm_token(&cm, 0);
	fake_cm_will(&cm, "event", 5);
	assert_int_equal(get_event(fd), 0);
	assert_answered("event", 5);
	assert_int_equal(readable(fd), 0);
	fake_cm_token(&cm, 0);
	fake_cm_will(&cm, NULL, 0)->status = -EAGAIN; /* another was faster */
	assert_int_equal(get_event(fd), -EAGAIN);
	fake_cm_token(&cm, 0);
	fake_cm_will(&cm, NULL, 0)->status = -EPERM;
	assert_int_equal(get_event(fd), -EPERM);
	fake_cm_token(&cm, 0);
	fake_cm_will(&cm, NULL, 0)->no_answer = true; /* and the daemon lives */
	assert_int_equal(get_event(fd), -EIO);
	close(fd);
}

/* Who comes finds nothing, waits, and then there is an event. Returns the first answer. */
static struct fake_cm_answer *event_comes_late(void)
{
	struct fake_cm_answer *late;

	fake_cm_token(&cm, 0);
	late = fake_cm_will(&cm, NULL, 0);
	late->status = -EAGAIN;
	late->token_after = true;
	fake_cm_will(&cm, "event", 5);
	return late;
}

/* A call that waits holds its file, as in a kernel: another thread closes the descriptor. */
static void test_event_of_closed(void **state)
{
	struct holdings before = holdings_now();
	int fd = open_device(0);

	(void)state;
	event_comes_late()->closes = fd;
	assert_int_equal(get_event(fd), 0);
	assert_answered("event", 5);
	assert_int_equal(get_event(fd), -EBADF);
	holdings_assert(before);
}

/* Who may wait does, until there is an event. */
static void test_event_waited_for(void **state)
{
	int fd = open_device(0);

	(void)state;
	event_comes_late();
	assert_int_equal(get_event(fd), 0);
	assert_answered("event", 5);
	close(fd);
}

static void *wait_for_event(void *fd)
{
	get_event(*(int *)fd);
	return NULL;
}

/* A thread that is cancelled while it waits takes nothing along: no descriptor, no event. */
static void test_event_of_cancelled(void **state)
{
	struct holdings before = holdings_now(), waiting;
	int fd = open_device(0);
	pthread_t thread;
	void *result;

	(void)state;
	before.descriptors += 2; /* ours and the daemon's */
	holdings_assert(before);
	waiting = before;
	waiting.descriptors++; /* it holds the file */
	assert_int_equal(pthread_create(&thread, NULL, wait_for_event, &fd), 0);
	holdings_assert(waiting);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	holdings_assert(before);
	fake_cm_token(&cm, 0);
	fake_cm_will(&cm, "event", 5);
	assert_int_equal(get_event(fd), 0);
	assert_answered("event", 5);
	close(fd);
}

/* ---- a daemon that goes ---- */

static void create(int fd, uint32_t id, uint64_t uid)
{
	struct rdma_ucm_create_id in = {.uid = uid, .response = ANSWER};

	fake_cm_will(&cm, &id, sizeof(id));
	GOOD(fd, CREATE_ID, in);
}

/* librdmacm asks about an id; the answer names a device. */
static void query(int fd, uint32_t id, uint32_t option, uint64_t guid)
{
	struct rdma_ucm_query in = {.response = ANSWER, .id = id, .option = option};

	fake_cm_will(&cm, &guid, sizeof(guid));
	GOOD(fd, QUERY, in);
}

static void send_event(int fd, unsigned file, uint64_t uid)
{
	struct rdma_ucm_event_resp e = {.uid = uid, .event = 9};

	fake_cm_token(&cm, file);
	fake_cm_will(&cm, &e, sizeof(answer));
	assert_int_equal(get_event(fd), 0);
}

static void assert_removal(int fd, uint32_t id, uint64_t uid)
{
	struct rdma_ucm_event_resp e;

	assert_int_equal(get_event(fd), 0);
	memcpy(&e, &answer, sizeof(answer) < sizeof(e) ? sizeof(answer) : sizeof(e));
	assert_int_equal(e.event, REMOVAL);
	assert_int_equal(e.id, id);
	assert_int_equal(e.uid, uid);
	assert_int_equal(e.status, 0);
}

/* How many events the program was told of, or -errno. */
static int destroy(int fd, uint32_t id)
{
	struct rdma_ucm_destroy_id in = {.response = ANSWER, .id = id};
	int err = PUT(fd, DESTROY_ID, in);
	uint32_t told;

	memcpy(&told, &answer, sizeof(told));
	return err ? err : (int)told;
}

/* Ids with a device hear that it is removed, once; then the open is silent. */
static void test_removal(void **state)
{
	struct rdma_ucm_listen listen_in = {.id = 10};
	int fd = open_device(O_NONBLOCK);

	(void)state;
	create(fd, 10, 1000); /* never had a device */
	create(fd, 11, 1001);
	create(fd, 12, 1002); /* about whose device nothing was said */
	create(fd, 13, 1003);
	query(fd, 11, RDMA_USER_CM_QUERY_ADDR, 0x4711);
	query(fd, 12, RDMA_USER_CM_QUERY_PATH, 0x4711); /* no device, but a number of paths */
	query(fd, 10, RDMA_USER_CM_QUERY_GID, 0);
	query(fd, 13, RDMA_USER_CM_QUERY_GID, 0x4711);
	send_event(fd, 0, 1001);
	send_event(fd, 0, 1001);
	send_event(fd, 0, 1000);
	fake_cm_stop(&cm);
	assert_int_equal(readable(fd), 1);
	assert_removal(fd, 11, 1001);
	assert_int_equal(readable(fd), 1);
	assert_removal(fd, 13, 1003);
	assert_int_equal(readable(fd), 0);
	assert_int_equal(get_event(fd), -EAGAIN);
	assert_int_equal(PUT(fd, LISTEN, listen_in), -EIO);
	assert_int_equal(destroy(fd, 11), 3); /* the removal is one of them */
	assert_int_equal(destroy(fd, 11), -ENOENT);
	assert_int_equal(destroy(fd, 10), 1);
	assert_int_equal(destroy(fd, 12), 0);
	assert_int_equal(destroy(fd, 13), 1);
	close(fd);
}

/* No id that could be told of it: come again, and find silence. */
static void test_event_without_reader(void **state)
{
	int fd = open_device(0);

	(void)state;
	fake_cm_stop(&cm);
	assert_int_equal(readable(fd), 1);
	assert_int_equal(get_event(fd), -EAGAIN);
	assert_int_equal(readable(fd), 0);
	close(fd);
}

/* What was destroyed in time is not heard of, nor is an id that failed to be made. */
static void test_struck(void **state)
{
	struct rdma_ucm_create_id failed = {.uid = 1009, .response = ANSWER};
	uint32_t told = 4;
	int fd = open_device(O_NONBLOCK);

	(void)state;
	create(fd, 20, 1004);
	query(fd, 20, RDMA_USER_CM_QUERY_ADDR, 1);
	create(fd, 21, 1005);
	query(fd, 21, RDMA_USER_CM_QUERY_ADDR, 1);
	fake_cm_will(&cm, NULL, 0)->status = -EINVAL;
	assert_int_equal(destroy(fd, 20), -EINVAL); /* it is still there */
	fake_cm_will(&cm, &told, sizeof(told));
	assert_int_equal(destroy(fd, 21), 4); /* what the daemon has counted */
	fake_cm_will(&cm, NULL, 0)->status = -ENOMEM;
	assert_int_equal(PUT(fd, CREATE_ID, failed), -ENOMEM);
	fake_cm_stop(&cm);
	assert_removal(fd, 20, 1004);
	assert_int_equal(get_event(fd), -EAGAIN);
	assert_int_equal(destroy(fd, 21), -ENOENT);
	assert_int_equal(destroy(fd, 20), 1);
	close(fd);
}

/* Who accepts has a device, and its number from then on; groups go with their ids. */
static void test_accepted(void **state)
{
	struct rdma_ucm_accept accept_in = {.uid = 1006, .id = 30};
	struct rdma_ucm_join_ip_mcast ip = {.response = ANSWER, .uid = 1007, .id = 30};
	struct rdma_ucm_join_mcast any = {.response = ANSWER, .uid = 1008, .id = 30};
	struct rdma_ucm_destroy_id leave = {.response = ANSWER, .id = 32};
	const uint32_t group[2] = {31, 32};
	uint32_t told;
	int fd = open_device(O_NONBLOCK);

	(void)state;
	GOOD(fd, ACCEPT, accept_in);
	fake_cm_will(&cm, &group[0], 4);
	GOOD(fd, JOIN_IP_MCAST, ip);
	fake_cm_will(&cm, &group[1], 4);
	GOOD(fd, JOIN_MCAST, any);
	send_event(fd, 0, 1007);
	send_event(fd, 0, 1008);
	send_event(fd, 0, 1008);
	fake_cm_stop(&cm);
	assert_removal(fd, 30, 1006); /* and none for the groups */
	assert_int_equal(get_event(fd), -EAGAIN);
	assert_int_equal(destroy(fd, 31), 1);
	GOOD(fd, LEAVE_MCAST, leave);
	memcpy(&told, &answer, sizeof(told));
	assert_int_equal(told, 2);
	assert_int_equal(destroy(fd, 30), 4); /* those of its groups, too */
	close(fd);
}

/* An id that has moved is told by its new open. */
static void test_moved(void **state)
{
	int old = open_device(O_NONBLOCK), fd = open_device(O_NONBLOCK);
	struct rdma_ucm_migrate_id in = {.response = ANSWER, .id = 40, .fd = (uint32_t)old};
	uint32_t none = 0;

	(void)state;
	create(old, 40, 1010);
	query(old, 40, RDMA_USER_CM_QUERY_ADDR, 1);
	fake_cm_will(&cm, &none, sizeof(none));
	GOOD(fd, MIGRATE_ID, in);
	fake_cm_stop(&cm);
	assert_int_equal(get_event(old), -EAGAIN);
	assert_removal(fd, 40, 1010);
	assert_int_equal(destroy(old, 40), -ENOENT);
	assert_int_equal(destroy(fd, 40), 1);
	close(fd);
	close(old);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
	const struct CMUnitTest tests[] = {
		TEST(test_open),
		TEST(test_open_refused),
		TEST(test_others),
		TEST(test_write),
		TEST(test_answer_with_the_end),
		TEST(test_malformed),
		TEST(test_response),
		TEST(test_response_room),
		TEST(test_nonsense),
		TEST(test_option),
		TEST(test_migrate),
		TEST(test_token),
		TEST(test_event),
		TEST(test_event_of_closed),
		TEST(test_event_waited_for),
		TEST(test_event_of_cancelled),
		TEST(test_removal),
		TEST(test_event_without_reader),
		TEST(test_struck),
		TEST(test_accepted),
		TEST(test_moved),
	};

	(void)argc;
	with_preload(argv, 1);
	fake_tree_make(getenv("UHCA_DIR"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
