/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control socket: SEQPACKET, so that a message is read whole or not at all. Requests of one
 * context are serialised by a mutex, because replies come in order. Waiting is bounded: a daemon
 * that is stopped must not stop its clients for ever.
 */
#include "rpc.h"

#include "clock.h"
#include "uncancelled.h"
#include "yield_backoff.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * So many looks for a reply before it is slept for: to be put to sleep and woken takes as long as
 * most commands.
 */
#define LOOKS 30u

union fd_buffer {
	char space[CMSG_SPACE(UHCA_ABI_MAX_FDS * sizeof(int))];
	struct cmsghdr align;
};

int uhcav_rpc_connect(struct uhcav_rpc *c, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	int err;

	c->sock = -1;
	c->sequence = 0;
	c->timeout_ms = UHCAV_RPC_TIMEOUT_MS;
	c->broken = false;
	if (len >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, len + 1);
	c->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (c->sock < 0)
		return -errno;
	if (connect(c->sock, (struct sockaddr *)&addr, sizeof(addr))) {
		err = -errno;
		close(c->sock);
		c->sock = -1;
		return err;
	}
	pthread_mutex_init(&c->lock, NULL);
	return 0;
}

void uhcav_rpc_close(struct uhcav_rpc *c)
{
	if (c->sock < 0)
		return;
	close(c->sock);
	c->sock = -1;
	c->broken = true;
	pthread_mutex_destroy(&c->lock);
}

/* Waits until the socket is ready for what events says; false when the time is over. */
static bool wait_ready(struct uhcav_rpc *c, short events, int64_t deadline)
{
	struct pollfd p = {.fd = c->sock, .events = events};

	for (;;) {
		int64_t left = deadline - (int64_t)uhcav_now_ms();
		int n = poll(&p, 1, left > 0 ? (int)left : 0);
		if (n > 0)
			return true;
		if (n == 0 && left <= 0)
			return false;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

/*
 * Other processes of this user have as many descriptors under way as the kernel allows (unix(7)):
 * a moment for them; false when the time is over. Leaves errno as it is.
 */
static bool wait_for_others(int64_t deadline)
{
	int saved = errno;

	poll(NULL, 0, 1);
	errno = saved;
	return (int64_t)uhcav_now_ms() < deadline;
}

static bool send_request(struct uhcav_rpc *c, const struct uhcav_call *call, int64_t deadline)
{
	struct iovec iov = {call->request, call->request_size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	union fd_buffer fds = {.space = {0}};
	ssize_t n;

	if (call->n_send_fd) {
		struct cmsghdr *m = &fds.align;
		size_t bytes = call->n_send_fd * sizeof(int);
		m->cmsg_level = SOL_SOCKET;
		m->cmsg_type = SCM_RIGHTS;
		m->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(m), call->send_fd, bytes);
		msg.msg_control = fds.space;
		msg.msg_controllen = CMSG_SPACE(bytes);
	}
	do {
		n = sendmsg(c->sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN && !wait_ready(c, POLLOUT, deadline))
			return false;
		if (n < 0 && errno == ETOOMANYREFS && !wait_for_others(deadline))
			return false;
	} while (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ETOOMANYREFS));
	return n == (ssize_t)call->request_size;
}

/*
 * Hands the descriptors of a message to the call; those nobody asked for are closed. Returns how
 * many came.
 */
static unsigned take_fds(struct uhcav_call *call, struct msghdr *msg)
{
	unsigned came = 0;

	for (struct cmsghdr *m = CMSG_FIRSTHDR(msg); m; m = CMSG_NXTHDR(msg, m)) {
		if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (m->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(m) + i * sizeof(int), sizeof(fd));
			if (came < call->n_recv_fd)
				call->recv_fd[came] = fd;
			else
				close(fd);
			came++;
		}
	}
	return came;
}

static void drop_fds(struct uhcav_call *call)
{
	for (unsigned i = 0; i < call->n_recv_fd; i++) {
		if (call->recv_fd[i] >= 0)
			close(call->recv_fd[i]);
		call->recv_fd[i] = -1;
	}
}

/* Is what came the answer to what was asked, whole and with its descriptors? */
static bool reply_fits(const struct uhcav_call *call, ssize_t n, int flags, unsigned fds)
{
	const struct uhca_cmd_reply *r = call->reply;

	if (n < (ssize_t)sizeof(*r) || (flags & (MSG_TRUNC | MSG_CTRUNC)))
		return false;
	if (r->cmd != call->cmd || r->sequence != call->request->sequence || r->size != (uint32_t)n)
		return false;
	if (r->status)
		return r->status < 0 && r->status > -4096 &&
		       n <= (ssize_t)sizeof(struct uhca_cmd_refusal);
	return n == (ssize_t)call->reply_size && fds == call->n_recv_fd;
}

/*
 * Why it failed stands behind the header: in the reply's room as far as that goes, then in "more".
 */
static void take_why(struct uhcav_call *call, const char *more, size_t n)
{
	size_t room = call->reply_size - sizeof(*call->reply);
	size_t first = n < room ? n : room;

	if (n > sizeof(call->why) - 1)
		n = sizeof(call->why) - 1;
	first = first < n ? first : n;
	memcpy(call->why, call->reply + 1, first);
	memcpy(call->why + first, more, n - first);
	call->why[n] = '\0';
}

/* Looks a few times, then sleeps; false when the time is over, or the daemon gone. */
static bool receive_reply(struct uhcav_rpc *c, struct uhcav_call *call, int64_t deadline)
{
	char more[sizeof(struct uhca_cmd_refusal)];
	struct iovec iov[2] = {{call->reply, call->reply_size}, {more, sizeof(more)}};
	union fd_buffer fds = {.space = {0}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
	ssize_t n;

	for (unsigned looks = 0;; looks++) {
		msg.msg_control = fds.space;
		msg.msg_controllen = sizeof(fds.space);
		n = recvmsg(c->sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n >= 0 || (errno != EINTR && errno != EAGAIN))
			break;
		if (looks < LOOKS)
			uhcav_yield_backoff();
		else if (!wait_ready(c, POLLIN, deadline))
			return false;
	}
	if (n <= 0)
		return false;
	if (n > (ssize_t)sizeof(*call->reply) && call->reply->status)
		take_why(call, more, (size_t)n - sizeof(*call->reply));
	return reply_fits(call, n, msg.msg_flags, take_fds(call, &msg));
}

static int exchange(struct uhcav_rpc *c, struct uhcav_call *call)
{
	int status, saved = errno;
	int64_t deadline;

	for (unsigned i = 0; i < call->n_recv_fd; i++)
		call->recv_fd[i] = -1;
	memset(call->reply, 0, call->reply_size);
	call->why[0] = '\0';
	pthread_mutex_lock(&c->lock);
	call->lost = c->broken;
	if (c->broken) {
		pthread_mutex_unlock(&c->lock);
		return -EIO;
	}
	call->request->cmd = call->cmd;
	call->request->size = call->request_size;
	__atomic_store_n(&c->sequence, c->sequence + 1, __ATOMIC_RELEASE); /* uhcav_rpc_order */
	call->request->sequence = c->sequence;
	call->request->reserved = 0;
	deadline = (int64_t)uhcav_now_ms() + c->timeout_ms;
	if (send_request(c, call, deadline) && receive_reply(c, call, deadline)) {
		status = call->reply->status;
	} else {
		c->broken = true;
		call->lost = true;
		status = -EIO;
	}
	pthread_mutex_unlock(&c->lock);
	if (status)
		drop_fds(call);
	errno = saved;
	return status;
}

int uhcav_rpc_call(struct uhcav_rpc *c, struct uhcav_call *call)
{
	int before = uhcav_cancel_off(), status = exchange(c, call);

	uhcav_cancel_back(before);
	return status;
}
