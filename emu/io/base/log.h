/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's log: one line per event, to a file, to standard error or to syslog. There is one
 * log per process. Before io_log_open, lines of level warn and worse go to standard error.
 */
#ifndef IO_LOG_H
#define IO_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum io_log_level {
	IO_LOG_ERROR,
	IO_LOG_WARN,
	IO_LOG_INFO,
	IO_LOG_DEBUG,
};

enum io_log_target {
	IO_LOG_FILE,
	IO_LOG_STDERR,
	IO_LOG_SYSLOG,
};

/*
 * Sends lines up to "level" to the target; path is the file of IO_LOG_FILE, which is made with
 * mode 0600 and appended to. 0 or -errno of output_open, which leaves the log as it was.
 */
int io_log_open(enum io_log_level level, enum io_log_target target, const char *path);

/* Back to the state before io_log_open. */
void io_log_close(void);

/*
 * While on (as it is at first), errors go to standard error as well, wherever the log goes: who
 * starts a daemon wants to see why it does not start.
 */
void io_log_echo_errors(bool on);

/* True when lines of the level are kept; guards costly arguments. */
bool io_log_enabled(enum io_log_level level);

__attribute__((format(printf, 2, 3))) void io_log(enum io_log_level level, const char *format, ...);

/* "error", "warn", "info", "debug": the names the option --log-level takes. */
const char *io_log_level_name(enum io_log_level level);

/*
 * Keeps a hostile network or client from filling the log: lets "burst" lines pass in each second.
 * Zero-initialise; one per place that logs.
 */
struct io_log_limit {
	uint64_t second; /* start of the second that is counted, ns */
	uint32_t passed;
	uint32_t held; /* since the last line that passed */
};

/*
 * True when a line may be written now. *held is then the number of lines that were held back
 * since the last that passed.
 */
bool io_log_limit(struct io_log_limit *limit, uint32_t burst, uint64_t now, uint32_t *held);

#endif
