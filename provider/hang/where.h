/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where another thread of the process stands. A signal asks it, and its handler takes the stack: so
 * this is for threads that were found to hang. A read, a lock or a condition goes on as if nothing
 * had been; poll(2), epoll_wait(2) and sleeps return early with EINTR.
 */
#ifndef UHCAV_HANG_WHERE_H
#define UHCAV_HANG_WHERE_H

#include "provider/diagnostic/diagnostic.h"

#include <sys/types.h>

/*
 * Its stack, or NULL: it blocks the signal, does not answer within a moment, or no signal is free.
 * One thread at a time may ask.
 */
const struct uhcav_stack *uhcav_hang_where(pid_t tid);

#endif
