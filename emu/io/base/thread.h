/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads for what may wait for others. The daemon's state is its one thread's: these know nothing
 * of it.
 */
#ifndef IO_THREAD_H
#define IO_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/*
 * pthread_create(3): 0 or -errno. Signals are for the daemon's thread, but SIGSYS for whose call
 * the sandbox refuses (refused.h).
 */
int io_thread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg);

/*
 * Starts such a thread; its result is ignored. One that has ended is joined by a later call. 0,
 * -ENOMEM, or -errno of pthread_create(3).
 */
int io_thread_start(void *(*run)(void *arg), void *arg);

/*
 * At the end of the process: waits until all threads have ended, ms at the most, and joins them.
 * False: one has not ended; then none is joined.
 */
bool io_thread_join_all(unsigned ms);

/* Does this thread of the process wait for something else than a processor (proc_pid_stat(5))? */
bool io_thread_is_asleep(pid_t tid);

/* In so many ms, as pthread_cond_timedwait(3) wants it. */
struct timespec io_thread_in_ms(unsigned ms);

#endif
