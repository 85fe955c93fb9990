/* SPDX-License-Identifier: BSD-2-Clause */
/* See privilege.h; raw(7), packet(7), socket(7). */
#include "privilege.h"

#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

/* The kernel's number of its network namespace; 0: it says none. */
static uint64_t namespace_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) == 0 ? cookie : 0;
}

/* Of other families anybody may have raw sockets. */
static bool is_raw(int fd)
{
	int domain, type;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return false;
	return domain == AF_PACKET ||
	       (type == SOCK_RAW && (domain == AF_INET || domain == AF_INET6));
}

bool io_privilege_net_raw(int fd)
{
	int own;
	bool same;

	if (!is_raw(fd))
		return false;
	own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	same = own >= 0 && namespace_of(own) == namespace_of(fd);
	if (own >= 0)
		close(own);
	return same;
}
