/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A listening Unix socket of the instance: the clients' control socket and uhcactl's. Only the
 * daemon's own user, and root, get in (SO_PEERCRED), whatever the file's mode has become.
 */
#ifndef IO_LISTENER_H
#define IO_LISTENER_H

#include <ev.h>
#include <sys/socket.h>

struct io_listener {
	struct ev_loop *loop;
	int fd;
	int reserve; /* given up for a moment when there are no descriptors left */
	ev_io watcher;
	/* Takes over sock. */
	void (*accept)(void *arg, int sock, const struct ucred *peer);
	void *arg;
};

/*
 * Binds a socket of the type (SOCK_SEQPACKET, SOCK_STREAM) to path with mode 0600 and listens.
 * The members accept and arg are set by the caller before. 0 or -errno of socket(2), bind(2);
 * ENAMETOOLONG.
 */
int io_listener_open(struct io_listener *l, struct ev_loop *loop, const char *path, int type);
void io_listener_close(struct io_listener *l);

#endif
