/* SPDX-License-Identifier: BSD-2-Clause */
/* See ucma_gone.h. It is known by its address, so that forked processes know it, too. */
#include "ucma_gone.h"

#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PREFIX "uhca-rdma_cm-gone-" /* in the abstract name space: a NUL goes before it */

bool uhca_ucma_gone_is(int fd)
{
	struct sockaddr_un peer = {0};
	socklen_t len = sizeof(peer);
	int saved = errno;
	bool is = getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
		  peer.sun_family == AF_UNIX && peer.sun_path[0] == '\0' &&
		  memcmp(peer.sun_path + 1, PREFIX, sizeof(PREFIX) - 1) == 0;

	errno = saved;
	return is;
}

/* A name that no other socket has. */
static socklen_t name_of(int fd, struct sockaddr_un *un)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);
	int n;

	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len);
	n = snprintf(un->sun_path + 1, sizeof(un->sun_path) - 1, PREFIX "%" PRIu64, cookie);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

bool uhca_ucma_gone_put(int fd)
{
	int flags = fcntl(fd, F_GETFL), fd_flags = fcntl(fd, F_GETFD);
	int self = UHCA_REAL(socket)(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un un;
	socklen_t len;
	bool done;

	if (self < 0)
		return false;
	len = name_of(self, &un);
	done = bind(self, (struct sockaddr *)&un, len) == 0 &&
	       connect(self, (struct sockaddr *)&un, len) == 0 &&
	       fcntl(self, F_SETFL, flags & O_NONBLOCK) == 0 &&
	       dup3(self, fd, fd_flags & FD_CLOEXEC ? O_CLOEXEC : 0) == fd;
	close(self);
	return done;
}
