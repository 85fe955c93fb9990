/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the watch of memory on. See memory_watch.h. */
#include "memory_watch.h"

#include "heap.h"
#include "mappings.h"

#include <pthread.h>

pthread_mutex_t uhcav_memory_watch_lock = PTHREAD_MUTEX_INITIALIZER;

void uhcav_memory_watch_listen(void)
{
	pthread_mutex_lock(&uhcav_memory_watch_lock);
	uhcav_mappings_listen();
	uhcav_heap_listen();
	pthread_mutex_unlock(&uhcav_memory_watch_lock);
}
