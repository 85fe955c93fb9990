/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors of the process: whose they are. Under the book's lock. */
#ifndef UHCAV_HANG_FILES_H
#define UHCAV_HANG_FILES_H

#include "thread.h"

#include <stdbool.h>

/* Asynchronous events of a device whose queues are in the book. */
bool uhcav_hang_is_async(int fd);

/* Events of rdma_cm; and does an id of the process listen, so that strangers may come? */
bool uhcav_hang_is_cm(int fd);
bool uhcav_hang_listens(void);

/* Does the thread wait for a descriptor of the kind? */
bool uhcav_hang_waits_for(const struct uhcav_hang_thread *t, bool (*is)(int fd));

/* Does an event of rdma_cm wait that nobody has read? */
bool uhcav_hang_cm_waits(void);

/* Is it a socket, a pipe or a timer, and not of verbs? */
bool uhcav_hang_is_foreign(int fd);

/* Are there any by which something else may come: sockets, pipes, timers? 0 to 2 do not count. */
bool uhcav_hang_has_foreign_files(void);

#endif
