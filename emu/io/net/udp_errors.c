/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads ICMP errors from the error queue of a socket. */
#include "udp_errors.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define TAKEN_MOST 256 /* of one call */

void io_udp_errors_want(int fd, int is_v4)
{
	int on = 1;

	if (is_v4)
		setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
	else
		setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on));
}

static const struct sock_extended_err *find_error(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
		    (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR))
			return (const void *)CMSG_DATA(c);
	return NULL;
}

static void report_unreachable(const struct io_udp_errors *e, const struct sock_extended_err *x,
			       const union io_sockaddr *to)
{
	uint8_t gid[16];

	if (x->ee_errno != ECONNREFUSED || !e || !e->unreachable)
		return;
	io_address_from_sockaddr(to, gid);
	e->unreachable(e->arg, gid,
		       ntohs(to->any.sa_family == AF_INET ? to->v4.sin_port : to->v6.sin6_port));
}

/* 1: one of the network's; 0: one of our own machine's; -1: there is none. */
static int take_one(int fd, const struct io_udp_errors *e)
{
	_Alignas(struct cmsghdr) char control[512];
	union io_sockaddr to;
	char some[8];
	struct iovec iov = {some, sizeof(some)};
	struct msghdr m = {.msg_name = &to,
			   .msg_namelen = sizeof(to),
			   .msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	const struct sock_extended_err *x;

	if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return -1;
	x = find_error(&m);
	if (!x || (x->ee_origin != SO_EE_ORIGIN_ICMP && x->ee_origin != SO_EE_ORIGIN_ICMP6))
		return 0;
	report_unreachable(e, x, &to);
	return 1;
}

unsigned io_udp_errors_take(int fd, const struct io_udp_errors *e)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TAKEN_MOST; i++) {
		int one = take_one(fd, e);

		if (one < 0)
			break;
		n += (unsigned)one;
	}
	return n;
}

bool io_udp_errors_were(int fd, const struct io_udp_errors *e, int error)
{
	bool may_be = error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH;
	unsigned taken = may_be ? io_udp_errors_take(fd, e) : 0;

	errno = error;
	/* No call refuses by itself, and the queue may have had no room for the message. */
	return taken > 0 || error == ECONNREFUSED;
}
