/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs of fuzz_daemon do to themselves, and what they hand over: an address space that is
 * replaced or ends, memory of another process, descriptors of every kind in every place.
 */
#ifndef TESTS_FUZZ_DAEMON_CHANGE_H
#define TESTS_FUZZ_DAEMON_CHANGE_H

#include "daemon_cm.h"
#include "daemon_user.h"

/* One of these, as the tape says, or a plain WRITE to the peer, to see what became of it. */
void daemon_change(struct daemon_user *u, struct daemon_user *peer, struct daemon_cm *cm,
		   struct io_daemon *d, struct fuzz_input *in);

/* The plain WRITE: 1000 bytes of memory, by the nth QP. */
void daemon_change_use(struct daemon_user *u, struct daemon_user *peer, uint8_t n);

/* The processes whose memory was handed over end. */
void daemon_change_end(void);

#endif
