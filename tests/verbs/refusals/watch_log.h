/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of the daemon's log that tell why calls of this program fail. */
#ifndef TESTS_VERBS_REFUSALS_WATCH_LOG_H
#define TESTS_VERBS_REFUSALS_WATCH_LOG_H

#include <stdbool.h>

/* The log is that of the instance ($UHCA_DIR). False, and says why, when it cannot be read. */
bool watch_log_begin(void);

/*
 * Waits a moment for the line of a call that was just made: of this program and process, with the
 * call's name, the errno value's and the words. False: it did not come, and is to be made again.
 * Fails the test when it did not come for 120 s, or gives no reason.
 */
bool watch_log_has(const char *row, const char *call, int err, const char *words);

/* Fails the test when the log has a refusal that gives no reason of its own. */
void watch_log_end(void);

#endif
