/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that notices that a daemon has died, so that programs which sleep in a completion
 * channel or wait for async events are told. One per process, while contexts are open; it costs
 * nothing while daemons live.
 */
#ifndef UHCAV_MONITOR_H
#define UHCAV_MONITOR_H

#include "device.h"

/* Watches the context's socket from now on. 0, or -errno of making the thread. */
int uhcav_monitor_add(struct uhcav_context *ctx);

/* Stops watching. When it returns the monitor is done with the context. */
void uhcav_monitor_remove(struct uhcav_context *ctx);

/* Does this with each open context, which is there until it returns. Any thread. */
void uhcav_monitor_each(void (*what)(struct uhcav_context *ctx, void *arg), void *arg);

/* How many threads of this process are the monitor's, and those beside it. */
unsigned uhcav_monitor_threads(void);

/* Is it one of the monitor's own descriptors? */
bool uhcav_monitor_owns(int fd);

/* So many threads of ours are there beside it. */
void uhcav_monitor_beside(unsigned n);

/* Its thread, as the kernel numbers it; 0: there was none yet. */
pid_t uhcav_monitor_thread(void);

/* The async descriptor of the context whose command descriptor is cmd_fd, or -1. */
int uhcav_monitor_async_fd(int cmd_fd);

/*
 * For fork.c, whose handlers the opener has installed. The lock keeps the list whole across a fork;
 * the child calls "forked" under it: all contexts are the parent's, and there is no thread.
 */
void uhcav_monitor_lock(void);
void uhcav_monitor_unlock(void);
void uhcav_monitor_forked(void);

#endif
