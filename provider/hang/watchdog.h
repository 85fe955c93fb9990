/* SPDX-License-Identifier: BSD-2-Clause */
/* The watching thread: it starts with the first completion queue, and looks some times a second. */
#ifndef UHCAV_HANG_WATCHDOG_H
#define UHCAV_HANG_WATCHDOG_H

#include <stdbool.h>

bool uhcav_hang_is_on(void);

/* There is something to watch: starts the thread, once. */
void uhcav_hang_watch(void);

struct uhcav_qp;

/* It leaves the book: has the program given up polling for it? Under the book's lock. */
void uhcav_hang_qp_ends(const struct uhcav_qp *qp);

/* In a fork's child: there is no such thread. */
void uhcav_hang_watch_forget(void);

#endif
