/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may take long, or for ever, and for which nobody waits (design D16): closing descriptors
 * that came from clients (a TCP socket with SO_LINGER, a file whose file system does not answer),
 * unmapping memory that may be the last of a large file, giving freed memory back to the system.
 * Threads do it; of those that have nothing to do one stays. One that does not come back holds up
 * nothing but its own job.
 */
#ifndef IO_REAPER_H
#define IO_REAPER_H

#include <stdbool.h>
#include <stddef.h>

/* Takes over fd. Closed when this returns, where it is certain that nobody has to wait for it. */
void io_reaper_close(int fd);

/*
 * The same for a socket of ours that nobody else has: what waits in it is taken out, with the
 * descriptors that it holds, and then it can be closed here.
 */
void io_reaper_hang_up(int fd);

/* munmap(2). */
void io_reaper_unmap(void *base, size_t size);

/*
 * malloc_trim(3), where it is worth it. Of what was freed malloc(3) may keep all below what is not.
 */
void io_reaper_trim(void);

/*
 * Anything else of the kind, by a thread; here, where there is neither memory nor a thread for it.
 */
void io_reaper_do(void (*job)(void *arg), void *arg);

/* Is all done? Waits so long for it, at most. */
bool io_reaper_wait(unsigned ms);

/* The end of the process: waits so long, at most, and for the threads that have come back. */
void io_reaper_end(unsigned ms);

#endif
