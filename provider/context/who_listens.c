/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that the listening process is of this user or root (SO_PEERCRED). */
#include "who_listens.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* What users look like that a user namespace has no number for: it may be anybody
 * (user_namespaces(7)). */
#define NOBODY_KNOWN 65534

bool uhcav_may_have_memory(uid_t listener, uid_t me, const struct stat *dir)
{
	if (listener == me || listener == 0)
		return true;
	return me == 0 && listener != NOBODY_KNOWN && dir->st_uid == listener &&
	       (dir->st_mode & 077) == 0;
}

int uhcav_check_listener(int sock, const char *dir)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct stat st;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) || stat(dir, &st))
		return -errno;
	return uhcav_may_have_memory(peer.uid, geteuid(), &st) ? 0 : -EPERM;
}
