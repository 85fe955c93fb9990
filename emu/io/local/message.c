/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See message.h; unix(7), cmsg(3).
 */
#include "message.h"

#include "reaper.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/*
 * Room for the most descriptors that the system lets a message carry (SCM_MAX_FD), aligned for its
 * header: those for which there is none would be closed by the kernel, and we would wait for it.
 */
#define FDS_MAX 253

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
};

int io_fds_take(struct io_fds *fds, unsigned i)
{
	int fd = -1;

	if (i < fds->n) {
		fd = fds->fd[i];
		fds->fd[i] = -1;
	}
	return fd;
}

void io_fds_close(struct io_fds *fds)
{
	for (unsigned i = 0; i < fds->n; i++)
		if (fds->fd[i] >= 0)
			io_reaper_close(fds->fd[i]);
	fds->n = 0;
}

/* False when there were more than a message of ours has. */
static bool collect(struct msghdr *msg, struct io_fds *fds)
{
	bool all = true;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (fds->n < UHCA_ABI_MAX_FDS)
				fds->fd[fds->n++] = fd;
			else
				io_reaper_close(fd);
			all &= i < UHCA_ABI_MAX_FDS;
		}
	}
	return all;
}

ssize_t io_message_receive(int sock, void *buf, size_t cap, struct io_fds *fds, bool *whole)
{
	union control control;
	struct iovec iov = {buf, cap};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	ssize_t n;

	fds->n = 0;
	do
		n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*whole = collect(&msg, fds) && (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
	return n;
}

static void attach(struct msghdr *msg, union control *control, const int *fd, unsigned n_fds)
{
	memset(control, 0, CMSG_SPACE(UHCA_ABI_MAX_FDS * sizeof(int)));
	msg->msg_control = control;
	msg->msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	control->header.cmsg_level = SOL_SOCKET;
	control->header.cmsg_type = SCM_RIGHTS;
	control->header.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
	memcpy(CMSG_DATA(&control->header), fd, n_fds * sizeof(int));
}

bool io_message_all_read(int sock)
{
	int unread = 0;

	return ioctl(sock, SIOCOUTQ, &unread) == 0 && unread == 0;
}

int io_message_send(int sock, const void *buf, size_t len, const int *fd, unsigned n_fds)
{
	union control control;
	struct iovec iov = {(void *)buf, len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (n_fds > UHCA_ABI_MAX_FDS)
		return -EINVAL;
	if (n_fds > 0)
		attach(&msg, &control, fd, n_fds);
	do
		n = sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}
