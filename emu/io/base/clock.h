/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one clock of the daemon: monotonic nanoseconds, what core.h calls "now".
 */
#ifndef IO_CLOCK_H
#define IO_CLOCK_H

#include <stdint.h>
#include <time.h>

#define IO_USEC 1000ull
#define IO_MSEC 1000000ull
#define IO_SEC  1000000000ull

/* Nanoseconds of CLOCK_MONOTONIC. Never fails, costs some 20 ns (vDSO). */
uint64_t io_clock_now(void);

/* The same, late by up to some milliseconds (a tick of the kernel), and cheaper. */
uint64_t io_clock_about(void);

/* Nanoseconds of processor time that this thread has used; a system call, some 200 ns. */
uint64_t io_clock_thread(void);

/* Nanoseconds since 1970, for the time stamps of captures and logs. */
uint64_t io_clock_wall(void);

/*
 * What io_clock_wall says when io_clock_now is 0; the two are read again where the processor was
 * somebody else's between them. With "read" in place of clock_gettime(2), for tests.
 */
uint64_t io_clock_wall_of_zero(void);
uint64_t io_clock_wall_of_zero_by(uint64_t (*read)(clockid_t id));

#endif
