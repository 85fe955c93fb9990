/* SPDX-License-Identifier: BSD-2-Clause */
#include "ucma_client.h"

#include "emu/io/base/clock.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define TURNS  100
#define BURSTS 100

/* What the daemon's own loop does: sockets, then what devices have to send. */
static void loop_pass(struct io_daemon *d)
{
	io_test_loop_pass(d->loop);
	for (unsigned i = 0; i < d->devices.n; i++)
		io_device_send(&d->ports[i].dev, io_clock_now(), d->devices.buf, d->devices.cap,
			       BURSTS);
}

static void send_with(int sock, const void *msg, size_t len, const int *fd, unsigned n)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {.space = {0}};
	struct iovec iov = {(void *)(uintptr_t)msg, len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n > 0) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fd, n * sizeof(int));
	}
	sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/*
 * The reply, or an end: the daemon closes the other side of the pair in any case, if not at once.
 */
static int await(struct ucma_client *c, int reply)
{
	ssize_t n = -1;

	memset(&c->reply, 0, sizeof(c->reply));
	for (unsigned i = 0; i < TURNS && n < 0; i++) {
		loop_pass(c->daemon);
		assert_true(io_reaper_wait(IO_TEST_SECONDS * 1000));
		n = recv(reply, &c->reply, sizeof(c->reply), MSG_DONTWAIT);
	}
	assert_true(n >= 0);
	if (n == 0)
		return -ECONNRESET;
	assert_int_equal(n, sizeof(c->reply.h) + c->reply.h.length);
	return c->reply.h.status;
}

static int exchange(struct ucma_client *c, const void *msg, size_t len, int more, unsigned n_fds)
{
	int pair[2];
	int status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	send_with(c->sock, msg, len, (int[]){pair[1], more}, n_fds);
	close(pair[1]);
	status = await(c, pair[0]);
	close(pair[0]);
	return status;
}

int ucma_client_send(struct ucma_client *c, const void *msg, size_t len, unsigned n_fds)
{
	return exchange(c, msg, len, c->sock, n_fds);
}

int ucma_client_call(struct ucma_client *c, uint32_t cmd, const void *in, size_t len, int fd)
{
	struct {
		struct uhca_ucma_request h;
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t body[UHCA_UCMA_MAX];
	} msg = {.h = {.magic = UHCA_UCMA_MAGIC,
		       .cmd = cmd,
		       .length = (uint32_t)(sizeof(msg.hdr) + len)},
		 .hdr = {.cmd = cmd, .in = (uint16_t)len}};

	assert_true(len <= sizeof(msg.body));
	if (len > 0)
		memcpy(msg.body, in, len);
	return exchange(c, &msg, sizeof(msg.h) + sizeof(msg.hdr) + len, fd, fd >= 0 ? 2 : 1);
}

int ucma_client_event(struct ucma_client *c, struct rdma_ucm_event_resp *out)
{
	struct rdma_ucm_get_event in = {0};
	int status = -EAGAIN;

	for (unsigned i = 0; i < TURNS && status == -EAGAIN; i++) {
		char token;

		loop_pass(c->daemon);
		if (recv(c->sock, &token, 1, MSG_DONTWAIT) == 1)
			status = ucma_client_call(c, RDMA_USER_CM_CMD_GET_EVENT, &in, sizeof(in),
						  -1);
	}
	if (status < 0)
		return status;
	memcpy(out, c->reply.response, sizeof(*out));
	return (int)out->event;
}

struct rdma_ucm_event_resp ucma_client_expect(struct ucma_client *c, uint32_t type, uint64_t uid)
{
	struct rdma_ucm_event_resp e;

	assert_int_equal(ucma_client_event(c, &e), type);
	assert_int_equal(e.uid, uid);
	return e;
}

uint32_t ucma_client_create(struct ucma_client *c, uint16_t ps, uint64_t uid)
{
	struct rdma_ucm_create_id in = {.uid = uid, .ps = ps};
	struct rdma_ucm_create_id_resp resp;

	assert_int_equal(ucma_client_call(c, RDMA_USER_CM_CMD_CREATE_ID, &in, sizeof(in), -1), 0);
	memcpy(&resp, c->reply.response, sizeof(resp));
	return resp.id;
}

int ucma_client_option(struct ucma_client *c, uint32_t id, uint32_t level, uint32_t name,
		       const void *value, uint32_t len)
{
	struct {
		struct uhca_ucma_request h;
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_set_option in;
		uint8_t value[256];
	} msg = {
		.h = {.magic = UHCA_UCMA_MAGIC,
		      .cmd = RDMA_USER_CM_CMD_SET_OPTION,
		      .length = sizeof(msg.hdr) + sizeof(msg.in) + len,
		      .option = len},
		.in = {.id = id, .level = level, .optname = name, .optlen = len},
	};

	assert_true(len <= sizeof(msg.value));
	memcpy(msg.value, value, len);
	return ucma_client_send(c, &msg, offsetof(__typeof__(msg), value) + len, 1);
}

struct sockaddr_in6 ucma_client_address(const struct io_daemon *d, unsigned device, uint16_t port)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 out = {0};

	memcpy(&v4.sin_addr, d->ports[device].dev.id.addresses.a[0].gid + 12, 4);
	memcpy(&out, &v4, sizeof(v4));
	return out;
}

void ucma_client_open(struct ucma_client *c, struct io_daemon *d)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	*c = (struct ucma_client){.daemon = d};
	snprintf(un.sun_path, sizeof(un.sun_path), "%.90s/" UHCA_UCMA_SOCKET, d->instance.dir);
	c->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_true(c->sock >= 0);
	assert_int_equal(connect(c->sock, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(ucma_client_call(c, UHCA_UCMA_HELLO, NULL, 0, c->sock), 0);
}

void ucma_client_settle(struct io_daemon *d)
{
	/* With its HELLO the daemon got the client's end, too, which is not closed at once. */
	for (unsigned i = 0; i < TURNS && (d->ucma.n_files > 0 || ev_is_active(&d->ucma.end));
	     i++) {
		assert_true(io_reaper_wait(IO_TEST_SECONDS * 1000));
		loop_pass(d);
	}
}

void ucma_client_close(struct ucma_client *c)
{
	close(c->sock);
	ucma_client_settle(c->daemon);
}
