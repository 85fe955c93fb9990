/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What befalls fuzz_daemon's daemon from outside of its programs' commands: low limits of its
 * process, signals, files that do not answer, and pages of arenas that go.
 */
#ifndef TESTS_FUZZ_DAEMON_STRAIN_H
#define TESTS_FUZZ_DAEMON_STRAIN_H

#include "daemon_user.h"

/* What the steps of fuzz_daemon.c can do. */
struct daemon_means {
	struct io_daemon *d;
	const char *dir;
	void (*loop_pass)(void);
	/* A request of uhcactl, and its answer. */
	void (*ask)(const char *format, const char *device, const char *text, unsigned number);
	/* 1000 bytes of the user's memory to the peer's. */
	void (*use)(struct daemon_user *u, struct daemon_user *peer, uint8_t n);
};

/* One of these, as the tape says. */
void daemon_strain(struct daemon_user *u, struct daemon_user *peer, const struct daemon_means *m,
		   struct fuzz_input *in);

#endif
