/* SPDX-License-Identifier: BSD-2-Clause */
/* The handler of SIGSEGV: what a protected page was used by. */
#ifndef UHCAV_FAULT_H
#define UHCAV_FAULT_H

#include <stdbool.h>

/*
 * Faults are heard by us; those that are not ours go to who heard them before. To be asked for each
 * time, because the program may have set a handler of its own since. False: they are not heard.
 * Under the lock of page_watch.c.
 */
bool uhcav_fault_listen(void);

#endif
