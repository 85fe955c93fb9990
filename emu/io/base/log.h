/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's log: one line per event, to a file, to standard error or to syslog. There is one
 * log per process. Before io_log_open, lines of level warn and worse go to standard error.
 *
 * Each call of io_log has a limit of its own: a client, a packet or a connection that provokes the
 * same line again and again does not fill the log. Lines of level debug have none. Where a file
 * would become longer than IO_LOG_FILE_MAX it is renamed to FILE.1, and a new one begins.
 */
#ifndef IO_LOG_H
#define IO_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define IO_LOG_FILE_MAX (16u << 20) /* bytes of the file; as many may be in FILE.1 */
#define IO_LOG_BURST    100         /* lines of one call of io_log in one second */

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

/* Back to the state before io_log_open, after io_log_end. */
void io_log_close(void);

/*
 * From now on a thread writes the lines (log_writer.h): a pipe that nobody reads, or a file system
 * that does not answer, stops nobody else. Lines that come while too many wait are left out, and
 * the log says how many. 0 or -errno of pthread_create(3): lines are then written as before.
 */
int io_log_begin(void);

/* Waits until all lines are written, so long at most. True: they are. */
bool io_log_flush(unsigned ms);

/* The end of io_log_begin: as io_log_flush; a thread that does not come back is left alone. */
void io_log_end(unsigned ms);

/* Closes the file and opens the one of that name, which another program may have moved away. */
void io_log_reopen(void);

/*
 * While on (as it is at first), errors go to standard error as well, wherever the log goes: who
 * starts a daemon wants to see why it does not start.
 */
void io_log_echo_errors(bool on);

/* True when lines of the level are kept; guards costly arguments. */
bool io_log_enabled(enum io_log_level level);

/*
 * Lets "burst" lines pass in each second. Zero-initialise; one per place that logs.
 */
struct io_log_limit {
	uint64_t second; /* start of the second that is counted, ns */
	uint32_t passed;
	uint32_t held; /* since the last line that passed */
};

/* A line, printf(3). */
#define io_log(level, ...)                                                                         \
	do {                                                                                       \
		static struct io_log_limit io_log_limit_;                                          \
                                                                                                   \
		io_log_at(&io_log_limit_, (level), __VA_ARGS__);                                   \
	} while (0)

/* The same with the limit of the place. */
__attribute__((format(printf, 3, 4))) void
io_log_at(struct io_log_limit *limit, enum io_log_level level, const char *format, ...);

/*
 * True when a line may be written now. *held is then the number of lines that were held back
 * since the last that passed.
 */
bool io_log_limit(struct io_log_limit *limit, uint32_t burst, uint64_t now, uint32_t *held);

#endif
