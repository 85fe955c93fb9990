/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work with files that a user names: their file system may take long to answer, or never does
 * (FUSE, a network file system), and then nobody else may wait for it (design D27). Each task is
 * done by a thread of its own; the loop is told when it has ended. A task that does not end costs
 * its thread and its memory, and counts among the IO_TASKS_MAX that there can be.
 */
#ifndef IO_TASK_H
#define IO_TASK_H

#include <sys/queue.h>

struct ev_loop;
struct io_tasks;

#define IO_TASKS_MAX 16

/* The first member of what the task needs; whoever starts it allocates it. */
struct io_task {
	STAILQ_ENTRY(io_task) link;
	struct io_tasks *set;
	void (*work)(struct io_task *t); /* by the thread; touches nothing of anybody else's */
	void (*done)(struct io_task *t); /* by the loop, once, behind work; may free the task */
};

/* For the tasks of a loop; NULL: there is no memory or no descriptor. */
struct io_tasks *io_tasks_open(struct ev_loop *loop);

/*
 * Waits for those that have been started, so long at most. The others are left alone: nobody calls
 * done for them, and what they have stays allocated. NULL is fine.
 */
void io_tasks_close(struct io_tasks *s, unsigned ms);

/*
 * Starts it; without a set both functions are called at once. 0, or -EAGAIN, with nothing called:
 * there are too many that do not end, or no thread.
 */
int io_task_start(struct io_tasks *s, struct io_task *t);

#endif
