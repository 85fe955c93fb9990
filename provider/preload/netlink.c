/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NETLINK_RDMA, by which the kernel's RDMA core tells of its devices. libibverbs and librdmacm ask
 * it first, where it is loaded, and look into sysfs only when that fails: their socket is refused
 * with what a kernel without RDMA says. rdma(8) of iproute2, which asks by libmnl, knows no other
 * way: its socket is one for messages between programs, and what it sends to the kernel is answered
 * here (nldev.h).
 */
#include "provider/nldev/nldev.h"
#include "real.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int socket(int domain, int type, int protocol)
{
	void *caller = __builtin_return_address(0);

	if (domain == AF_NETLINK && protocol == NETLINK_RDMA && uhca_root()) {
		if (uhca_is_library(caller, "libmnl.so"))
			return UHCA_REAL(socket)(domain, type, NETLINK_USERSOCK);
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return UHCA_REAL(socket)(domain, type, protocol);
}

/* To the kernel, which has nobody who listens to this protocol. */
static bool is_ours(int fd, const struct sockaddr *to, socklen_t len)
{
	const struct sockaddr_nl *nl = (const void *)to;
	int protocol;
	socklen_t size = sizeof(protocol);

	return to && len >= sizeof(*nl) && to->sa_family == AF_NETLINK && nl->nl_pid == 0 &&
	       nl->nl_groups == 0 && uhca_root() &&
	       getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
	       protocol == NETLINK_USERSOCK;
}

struct way_back {
	int fd;
	struct sockaddr_nl to;
};

static void send_back(void *arg, const void *datagram, size_t len)
{
	const struct way_back *w = arg;
	__CONST_SOCKADDR_ARG to = {.__sockaddr__ = (const void *)&w->to};

	UHCA_REAL(sendto)(w->fd, datagram, len, 0, to, sizeof(w->to));
}

/* 0, or -1 and errno. */
static int answer(int fd, const void *bytes, size_t len)
{
	struct way_back w = {.to = {.nl_family = AF_NETLINK}};
	struct uhca_nldev n = {.root = uhca_root(), .send = send_back, .arg = &w};
	socklen_t size = sizeof(w.to);
	int saved;

	if (getsockname(fd, (void *)&w.to, &size) < 0)
		return -1;
	w.fd = UHCA_REAL(socket)(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	if (w.fd < 0)
		return -1;
	n.port = w.to.nl_pid;
	saved = errno;
	uhca_nldev_answer(&n, bytes, len);
	close(w.fd);
	errno = saved;
	return 0;
}

EXPORT ssize_t sendto(int fd, const void *bytes, size_t len, int flags, __CONST_SOCKADDR_ARG to,
		      socklen_t to_len)
{
	if (!is_ours(fd, to.__sockaddr__, to_len))
		return UHCA_REAL(sendto)(fd, bytes, len, flags, to, to_len);
	return answer(fd, bytes, len) < 0 ? -1 : (ssize_t)len;
}
