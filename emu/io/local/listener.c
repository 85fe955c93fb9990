/* SPDX-License-Identifier: BSD-2-Clause */
/* Listens on a Unix socket, and accepts processes of the daemon's user and root. */
#include "listener.h"

#include "reaper.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct io_log_limit limit;

static void refuse(int sock, const struct ucred *peer)
{
	uint32_t held;

	if (io_log_limit(&limit, 5, io_clock_now(), &held))
		io_log(IO_LOG_WARN, "refused process %d of user %u (%u more)", (int)peer->pid,
		       (unsigned)peer->uid, held);
	io_reaper_close(sock);
}

static void welcome(struct io_listener *l, int sock)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		io_reaper_close(sock);
	else if (peer.uid != geteuid() && peer.uid != 0)
		refuse(sock, &peer);
	else
		l->accept(l->arg, sock, &peer);
}

/*
 * Without a descriptor left, a connection would stay in the queue and wake the loop for ever:
 * take it with the reserve, and close it.
 */
static void shed(struct io_listener *l)
{
	int sock;
	uint32_t held;

	close(l->reserve);
	sock = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (sock >= 0)
		close(sock); /* at once: its number is the next reserve's */
	l->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (io_log_limit(&limit, 5, io_clock_now(), &held))
		io_log(IO_LOG_ERROR, "no descriptor left for a new client (%u more)", held);
}

static void on_readable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct io_listener *l = w->data;
	int sock = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)loop;
	(void)revents;
	if (sock >= 0)
		welcome(l, sock);
	else if (errno == EMFILE || errno == ENFILE)
		shed(l);
}

static int bind_path(int fd, const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	size_t len = strlen(path);

	if (len >= sizeof(un.sun_path))
		return -ENAMETOOLONG;
	memcpy(un.sun_path, path, len + 1);
	/* Nobody can connect before listen(2), so the mode may follow the bind. */
	if (bind(fd, (struct sockaddr *)&un, sizeof(un)) < 0 || chmod(path, 0600) < 0 ||
	    listen(fd, 64) < 0)
		return -errno;
	return 0;
}

int io_listener_open(struct io_listener *l, struct ev_loop *loop, const char *path, int type)
{
	int error;

	l->loop = loop;
	l->reserve = -1;
	l->fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return -errno;
	error = bind_path(l->fd, path);
	if (error < 0) {
		close(l->fd);
		l->fd = -1;
		return error;
	}
	l->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ev_io_init(&l->watcher, on_readable, l->fd, EV_READ);
	l->watcher.data = l;
	ev_io_start(loop, &l->watcher);
	return 0;
}

void io_listener_close(struct io_listener *l)
{
	if (!l->loop || l->fd < 0)
		return;
	ev_io_stop(l->loop, &l->watcher);
	close(l->fd);
	if (l->reserve >= 0)
		close(l->reserve);
	l->fd = -1;
}
