/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replies whose descriptors the kernel does not take now: it counts those that are under way
 * between processes of a user, and refuses more of them than one process may have open (unix(7),
 * ETOOMANYREFS). Another process of the daemon's user brings that about and ends it; until then the
 * reply waits, and the client for it.
 */
#ifndef IO_OWED_REPLY_H
#define IO_OWED_REPLY_H

#include "client.h"

#include <stddef.h>

/*
 * Sends a reply of len bytes with n descriptors, which stay the caller's: now, or as soon as the
 * kernel takes them. 0 also when it waits, or -errno of sendmsg(2) and of what is needed to wait. A
 * client that cannot be answered later, either, is removed: in some 16 s, or when it has gone.
 */
int io_reply_send(struct io_client *c, const void *reply, size_t len, const int *fd, unsigned n);

#endif
