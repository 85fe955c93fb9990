/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls between two polls by which a program may learn something: of sockets, pipes, files,
 * signals, other processes. They are heard in the slots by which the program and its libraries
 * call the C library (base/got.h), and only once a program seems to hang.
 */
#ifndef UHCAV_HANG_ASKS_H
#define UHCAV_HANG_ASKS_H

#include <stdbool.h>

/* Listens from now on; what was heard before is forgotten. */
void uhcav_hang_asks_begin(void);

/* Calls of this thread do not count. */
void uhcav_hang_asks_not_by_me(void);

/* Has any other thread asked something that is not of verbs? Under the book's lock. */
bool uhcav_hang_asks_any(void);

/* Has one looked at the time since? It may poll for a limited while. */
bool uhcav_hang_asks_time(void);

#endif
