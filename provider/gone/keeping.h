/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of destroyed objects, which is freed when so many others have come after it. */
#ifndef UHCAV_GONE_KEEPING_H
#define UHCAV_GONE_KEEPING_H

#include <pthread.h>
#include <stdbool.h>

#define UHCAV_KEPT 1024u

/* From now on the memory of destroyed objects is kept (provider/base/keep.h). */
void uhcav_keeping_begin(void);
bool uhcav_keeping_is_on(void);

/* Keeps what "end" frees, once its time has come. Any thread; "end" is called without a lock. */
void uhcav_keeping_take(void *memory, void (*end)(void *memory));

/*
 * An object that this thread is about to free by free(3), and that is kept instead: the hearer
 * takes it over and sets it to NULL.
 */
extern __thread void *uhcav_keeping_next;

/* Held across a fork. */
extern pthread_mutex_t uhcav_keeping_lock;

#endif
