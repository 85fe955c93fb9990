/* SPDX-License-Identifier: BSD-2-Clause */
/* See keeping.h. A ring: the oldest makes room for the newest. */
#include "keeping.h"

#include "provider/base/base.h"
#include "tomb.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct kept {
	void *memory;
	void (*end)(void *memory);
};

pthread_mutex_t uhcav_keeping_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept ring[UHCAV_KEPT];
static unsigned next;

void uhcav_keeping_take(void *memory, void (*end)(void *memory))
{
	struct kept oldest;

	pthread_mutex_lock(&uhcav_keeping_lock);
	oldest = ring[next];
	ring[next] = (struct kept){memory, end};
	next = (next + 1) % UHCAV_KEPT;
	pthread_mutex_unlock(&uhcav_keeping_lock);
	if (!oldest.memory)
		return;
	uhcav_tomb_forget(oldest.memory);
	oldest.end(oldest.memory);
}

__thread void *uhcav_keeping_next;

static void take_object(void *object)
{
	uhcav_keeping_take(object, free);
}

void uhcav_keeping_begin(void)
{
	uhcav_keeper = take_object;
}

bool uhcav_keeping_is_on(void)
{
	return uhcav_keeper != NULL;
}
