/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that writes the log. Lines wait for it in a ring of bytes. The thread copies one out
 * and calls the function that writes it, which may block. Only log.c uses this header.
 */
#ifndef IO_LOG_WRITER_H
#define IO_LOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_WRITER_ROOM (256u << 10) /* bytes of lines that wait */
#define LOG_WRITER_LINE 1200u        /* the longest one */

/* What the thread calls, each without a lock of the writer's. */
struct log_writer_ops {
	void (*write)(unsigned kind, const char *line, size_t len);
	void (*left_out)(unsigned lines); /* there was no room for so many */
	void (*held)(unsigned lines);     /* log_writer_hold was called so often */
	void (*reopen)(void);
};

/* Starts the thread. 0 or -errno of pthread_create(3). */
int log_writer_begin(const struct log_writer_ops *ops);
bool log_writer_is_there(void);

/* A line for ops.write, which gets its kind with it. len: at most LOG_WRITER_LINE. */
void log_writer_put(unsigned kind, const char *line, size_t len);

/* A line that a limit keeps out of the log: ops.held tells of them, once in a second. */
void log_writer_hold(void);

/* ops.reopen, by the thread, before the lines that wait. */
void log_writer_reopen(void);

/* Waits for so long, at most, until everything is done. True: it is, or there is no thread. */
bool log_writer_flush(unsigned ms);

/*
 * The same, and the thread ends. One that does not come back goes on by itself: what is given to
 * the writer from then on vanishes. True: it has ended.
 */
bool log_writer_end(unsigned ms);

#endif
