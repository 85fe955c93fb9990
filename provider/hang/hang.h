/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "hang": a thread that watches a sanitized program and tells why it does not go on. Each
 * tick it looks at what the threads of the process wait for (thread.h), and at the completion
 * queues and queue pairs (book.h). Where nothing has changed for some seconds it judges by the
 * state of queues, not by the time (judge.h).
 *
 * Callers: the sanitizer, which reports objects, polls and armings. It calls qp, queues,
 * context and diagnostic. Where to begin: judge.h.
 */
#ifndef UHCAV_HANG_H
#define UHCAV_HANG_H

#include "book.h"

/* When checks are on, before there are objects. */
void uhcav_hang_begin(void);

/* The process has something of a device: what its threads wait for is watched from now on. */
void uhcav_hang_device_used(void);

/*
 * The process exits. Where its status says that something has failed: has it given up polling for a
 * completion that no request gives?
 */
void uhcav_hang_exits(bool fails);

/* Held across a fork, with the book's; in the child nothing of the parent's is watched. */
extern pthread_mutex_t uhcav_hang_lock;
void uhcav_hang_forget(void);

#endif
