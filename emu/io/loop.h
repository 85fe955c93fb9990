/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's one thread (design D7). Awake, it looks at doorbells, hot sockets, deadlines and
 * bursts to send, and yields the processor when there was nothing; with nothing to do for a
 * while it says so in the status page (need_wakeup), looks once more, and sleeps in libev until
 * a descriptor or the next deadline wakes it.
 */
#ifndef IO_LOOP_H
#define IO_LOOP_H

struct io_daemon;

/* Runs until the daemon is told to stop. 0 or -errno (no descriptor for the timer). */
int io_loop_run(struct io_daemon *d);

#endif
