/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of memory that the daemon has mapped too, found by address. */
#include "shared_list.h"

#include <stdlib.h>
#include <sys/mman.h>

void uhcav_shared_construct(struct uhcav_shared_list *l)
{
	pthread_mutex_init(&l->lock, NULL);
	l->first = NULL;
}

void uhcav_shared_drop(struct uhcav_shared *s)
{
	munmap(s->map, s->map_size);
	free(s);
}

void uhcav_shared_destruct(struct uhcav_shared_list *l)
{
	while (l->first) {
		struct uhcav_shared *s = l->first;

		l->first = s->next;
		uhcav_shared_drop(s);
	}
	pthread_mutex_destroy(&l->lock);
}

bool uhcav_shared_find(struct uhcav_shared_list *l, uint64_t addr, uint64_t length,
		       uint32_t *handle, uint64_t *offset)
{
	struct uhcav_shared *s;

	pthread_mutex_lock(&l->lock);
	for (s = l->first; s; s = s->next)
		if (addr >= s->addr && length <= s->length && addr - s->addr <= s->length - length)
			break;
	if (s) {
		*handle = s->handle;
		*offset = addr - s->addr;
	}
	pthread_mutex_unlock(&l->lock);
	return s;
}
