/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of descriptors that a thread waits for. See files.h. */
#include "files.h"

#include "book.h"

#include "emu/abi/ucma_call.h"
#include "provider/context/context.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Is its other end this socket of the daemon (NULL: any)? */
static bool is_to_daemon(int fd, const char *name)
{
	const char *root = secure_getenv("UHCA_DIR");
	size_t n = root ? strlen(root) : 0;
	struct sockaddr_un peer = {0};
	socklen_t len = sizeof(peer);

	return n && !getpeername(fd, (struct sockaddr *)&peer, &len) &&
	       peer.sun_family == AF_UNIX && !strncmp(peer.sun_path, root, n) &&
	       (!name || !strcmp(peer.sun_path + n, name));
}

bool uhcav_hang_is_cm(int fd)
{
	return is_to_daemon(fd, "/" UHCA_UCMA_SOCKET);
}

bool uhcav_hang_waits_for(const struct uhcav_hang_thread *t, bool (*is)(int fd))
{
	for (unsigned i = 0; i < t->n_fds; i++)
		if (is(t->fds[i]))
			return true;
	return false;
}

bool uhcav_hang_listens(void)
{
	static int (*listens)(void);

	if (!listens)
		*(void **)&listens = dlsym(RTLD_DEFAULT, "uhca_preload_listens");
	return !listens || listens();
}

bool uhcav_hang_is_async(int fd)
{
	struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (h->cq->cq.context->async_fd == fd)
		return true;
	return false;
}

static bool is_of_verbs(int fd)
{
	struct uhcav_hang_cq *h;

	if (uhcav_hang_is_async(fd) || is_to_daemon(fd, NULL) || uhcav_monitor_owns(fd) ||
	    uhcav_reporter_owns(fd))
		return true;
	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	{
		const struct uhcav_channel *c = h->cq->channel;

		if (fd == h->cq->ctx->event_fd || fd == h->cq->ctx->async.write_fd ||
		    (c && (fd == c->events.read_fd || fd == c->events.write_fd)))
			return true;
	}
	return false;
}

bool uhcav_hang_is_foreign(int fd)
{
	static const char *const kinds[] = {"socket:", "pipe:", "anon_inode:"};
	char path[64], target[128];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(target, kinds[i], strlen(kinds[i])))
			return !is_of_verbs(fd);
	return false;
}

static bool any_file(bool (*is)(int fd), bool when_unknown)
{
	DIR *all = opendir("/proc/self/fd");
	const struct dirent *entry;
	bool found = !all && when_unknown;

	while (all && !found && (entry = readdir(all)))
		found = isdigit((unsigned char)entry->d_name[0]) &&
			atoi(entry->d_name) > STDERR_FILENO && is(atoi(entry->d_name));
	if (all)
		closedir(all);
	return found;
}

bool uhcav_hang_has_foreign_files(void)
{
	return any_file(uhcav_hang_is_foreign, true);
}

static bool is_unread_cm(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return uhcav_hang_is_cm(fd) && poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

bool uhcav_hang_cm_waits(void)
{
	return any_file(is_unread_cm, false);
}
