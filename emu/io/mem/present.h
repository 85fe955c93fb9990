/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pages of a client's memory are present, so that an access cannot wait for another program.
 * The kernel tells by /proc/PID/pagemap, without touching a page. The answers are cached for a
 * while. A swapped page counts as present: the kernel brings it by itself.
 */
#ifndef IO_PRESENT_H
#define IO_PRESENT_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

struct io_present;

/* Of the process "pid"; NULL where the kernel tells nothing of it. */
struct io_present *io_present_open(pid_t pid);
void io_present_close(struct io_present *p);

/* Is each page there that these pieces (addresses of the client) touch? True where p is NULL. */
bool io_present_all(struct io_present *p, const struct iovec *piece, unsigned n, bool write);

/* The client registers memory: what is behind its addresses may be another thing now. */
void io_present_forget(struct io_present *p);

#endif
