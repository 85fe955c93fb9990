/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that a thread opens, writes and closes, so that the daemon never waits for a file system
 * (design D27). Pieces wait in a queue of IO_FILE_WRITER_ROOM bytes. The queue refuses a piece that
 * does not fit, and the caller counts it.
 */
#ifndef IO_FILE_WRITER_H
#define IO_FILE_WRITER_H

#include <stddef.h>

#define IO_FILE_WRITER_ROOM (16u << 20)
#define IO_FILE_WRITERS_MAX 8 /* at once; more than one: the others' file systems do not answer */

struct io_file_writer;

/*
 * Starts a thread that opens the file as output_open does (OUTPUT_REGULAR, OUTPUT_PRIVATE). What
 * comes of that io_file_writer_wait and _put tell. 0, -ENAMETOOLONG, -ENOMEM, or -EAGAIN (too many,
 * no thread). To be closed.
 */
int io_file_writer_open(const char *path, struct io_file_writer **out);

/*
 * A piece, which is copied. 0; -EAGAIN when there is no room for it: a caller that finds the thread
 * at work waits for it a moment first (some milliseconds); or why the file is not written any more:
 * -errno.
 */
int io_file_writer_put(struct io_file_writer *w, const void *p, size_t len);

/* Bytes that wait. */
size_t io_file_writer_waiting(struct io_file_writer *w);

/* By write(2), as often as it takes: 0 or -errno. */
int io_file_write_all(int fd, const void *bytes, size_t len);

/* Why the file is not written any more: -errno, or 0. */
int io_file_writer_error(struct io_file_writer *w);

/*
 * Waits until everything is written that was put, and, if it is to be, the file closed; so long at
 * most. 0, -errno of the file, -ETIMEDOUT.
 */
int io_file_writer_wait(struct io_file_writer *w, unsigned ms);

/* Nothing more comes: the thread closes the file behind what waits. */
void io_file_writer_finish(struct io_file_writer *w);

/* For another one who waits. Each is put back by io_file_writer_close. */
struct io_file_writer *io_file_writer_get(struct io_file_writer *w);

/* io_file_writer_finish by the last of those who have it. The thread goes on with what waits. */
void io_file_writer_close(struct io_file_writer *w);

#endif
