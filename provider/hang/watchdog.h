/* SPDX-License-Identifier: BSD-2-Clause */
/* The watching thread: it starts with the first completion queue, and looks some times a second. */
#ifndef UHCAV_HANG_WATCHDOG_H
#define UHCAV_HANG_WATCHDOG_H

#include <stdbool.h>

bool uhcav_hang_is_on(void);

/* There is something to watch: starts the thread, once. */
void uhcav_hang_watch(void);

/* In a fork's child: there is no such thread. */
void uhcav_hang_watch_forget(void);

#endif
