/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions about files to which the answer is wanted at once, and mostly comes at once: a thread
 * asks, and the loop waits for a moment. Where the file system does not answer the thread stays
 * away; until it is back nobody waits again. (What may take its time is a task, task.h.)
 */
#ifndef IO_PROMPT_H
#define IO_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * So long a loop waits for a thread that sleeps. A disk's file system that writes its journal takes
 * 10 to 40 ms.
 */
#define IO_PROMPT_MS   50
#define IO_PROMPT_ROOM 8192

struct io_prompt;

/* Without its thread, which begins with the first question. NULL: there is no memory. */
struct io_prompt *io_prompt_open(void);

/* Starts the thread, which the first question does else. False: it cannot be. */
bool io_prompt_begin(struct io_prompt *p);

/* A thread that is away is left alone. NULL is fine. */
void io_prompt_close(struct io_prompt *p);

/*
 * Has the thread call work on a copy of size bytes (IO_PROMPT_ROOM at most), and waits until it has
 * slept in that for so long, at most. True: it is done, and arg is as work has left it. False: it
 * is not, arg is as it was; the thread may be away with an earlier question, or there may be none.
 */
bool io_prompt_ask(struct io_prompt *p, void (*work)(void *arg), void *arg, size_t size,
		   unsigned ms);

#endif
