/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One message with descriptors on a SEQPACKET Unix socket: the form of cmd.h's requests and
 * replies, without their meaning.
 */
#ifndef IO_MESSAGE_H
#define IO_MESSAGE_H

#include "emu/abi/cmd.h"

#include <stdbool.h>
#include <sys/types.h>

/* Descriptors that came with a message. Whoever keeps one takes it out; the rest gets closed. */
struct io_fds {
	unsigned n;
	int fd[UHCA_ABI_MAX_FDS];
};

/* Takes descriptor i out; the caller owns it. -1 when there is none. */
int io_fds_take(struct io_fds *fds, unsigned i);
void io_fds_close(struct io_fds *fds);

/*
 * Receives one message without waiting. Returns its length, which is more than cap when it was
 * cut; 0 when the other end is closed; -EAGAIN when there is none; -errno of recvmsg(2).
 * *whole is false when message or descriptors were cut.
 */
ssize_t io_message_receive(int sock, void *buf, size_t cap, struct io_fds *fds, bool *whole);

/*
 * Sends one message without waiting; the descriptors stay the caller's. 0 or -errno of
 * sendmsg(2), -EAGAIN when the other end does not read.
 */
int io_message_send(int sock, const void *buf, size_t len, const int *fd, unsigned n_fds);

/* Nothing of what was sent waits at the other end any more (unix(7), SIOCOUTQ). */
bool io_message_all_read(int sock);

#endif
