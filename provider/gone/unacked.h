/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of rdma_cm that a thread has read and nobody has acknowledged. A thread that destroys the
 * id of such an event, and has read it itself, waits for ever.
 */
#ifndef UHCAV_UNACKED_H
#define UHCAV_UNACKED_H

#include "provider/diagnostic/diagnostic.h"

#include <sys/types.h>

/* The calling thread has read it (struct rdma_cm_event), or somebody acknowledges it. */
void uhcav_unacked_add(const void *event, struct uhcav_here here);
void uhcav_unacked_remove(const void *event);

/* The calling thread destroys the id, or moves it to another channel. */
void uhcav_unacked_await(const void *id);

/* Does the thread wait for an acknowledgement of its own? Who read the event, or NULL. */
const struct uhcav_stack *uhcav_unacked_by(pid_t tid);

#endif
