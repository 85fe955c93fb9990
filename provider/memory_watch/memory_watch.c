/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the watch of memory on, and its locks for fork. See memory_watch.h. */
#include "memory_watch.h"

#include "heap.h"
#include "mappings.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void uhcav_memory_watch_listen(void)
{
	pthread_mutex_lock(&lock);
	uhcav_mappings_listen();
	uhcav_heap_listen();
	pthread_mutex_unlock(&lock);
}

void uhcav_memory_watch_lock(void)
{
	pthread_mutex_lock(&lock);
	uhcav_quarantine_lock();
	uhcav_ranges_lock();
}

void uhcav_memory_watch_unlock(void)
{
	uhcav_ranges_unlock();
	uhcav_quarantine_unlock();
	pthread_mutex_unlock(&lock);
}
