/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two programs with rdma_cm, of fuzz_daemon: what they do has the sense that a program's calls
 * have, for ids that are there, in any order. What has none is fuzz_ucma's, and fuzz_daemon's own.
 */
#ifndef TESTS_FUZZ_DAEMON_CM_H
#define TESTS_FUZZ_DAEMON_CM_H

#include "tests/fuzz/input.h"
#include "tests/support/io/ucma_client.h"

#define DAEMON_CM_IDS 8u

struct daemon_cm {
	struct daemon_cm_end {
		struct ucma_client c;
		uint32_t id[DAEMON_CM_IDS]; /* the last ones */
		unsigned n;                 /* made in all */
	} end[2];
	bool open;
};

/* Of the first and of the second device; does nothing when they are open. */
void daemon_cm_open(struct daemon_cm *m, struct io_daemon *d);
void daemon_cm_close(struct daemon_cm *m);

/* Somebody whom the daemon hung up on comes again. */
void daemon_cm_again(struct daemon_cm_end *e);

/*
 * A program of its own that makes many ids, each in a state of the tape, joins, or requests at a
 * listener, reads no event, and dies: what the daemon frees in parts is to be more than a part.
 */
void daemon_cm_hoard(struct io_daemon *d, struct fuzz_input *in);

/* One call, or events, as the tape says. */
void daemon_cm_step(struct daemon_cm *m, struct fuzz_input *in);

#endif
