/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one clock of the daemon: monotonic nanoseconds, what core.h calls "now".
 */
#ifndef IO_CLOCK_H
#define IO_CLOCK_H

#include <stdint.h>

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

#endif
