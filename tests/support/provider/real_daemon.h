/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon of the build tree, for tests of the provider: one device, no sockets to the network.
 */
#ifndef TESTS_SUPPORT_REAL_DAEMON_H
#define TESTS_SUPPORT_REAL_DAEMON_H

#include <sys/types.h>

/* Starts it in $UHCA_DIR and returns when clients can connect. Ends the test if it cannot. */
pid_t real_daemon_start(void);

/* Ends it with the signal and waits for its end. */
void real_daemon_stop(pid_t pid, int sig);

#endif
