/* SPDX-License-Identifier: BSD-2-Clause */
/* Making and freeing the memory that a queue shares with its client. */
#include "queue_region.h"
#include "emu/abi/region.h"

#include <errno.h>
#include <inttypes.h>

int queue_memory_create(struct client *c, uint64_t size, struct core_ring *out)
{
	size = (size + QUEUE_REGION_PAGE - 1) & ~(uint64_t)(QUEUE_REGION_PAGE - 1);
	if (size > SIZE_MAX)
		return -ENOMEM;
	int err = c->dev->ops->ring_alloc(c->cookie, (size_t)size, out);
	if (err)
		return device_refuse(c->dev, err,
				     "the daemon cannot allocate %" PRIu64 " bytes to share "
				     "(memory, descriptors or mappings)",
				     size);
	out->size = (size_t)size;
	return 0;
}

int queue_region_create(struct client *c, uint32_t kind, uint64_t size, struct core_ring *out)
{
	int err = queue_memory_create(c, size, out);
	if (err)
		return err;
	struct uhca_abi_region *header = out->base;
	*header = (struct uhca_abi_region){
		.magic = UHCA_ABI_MAGIC,
		.version = UHCA_ABI_VERSION,
		.kind = kind,
		.size = out->size,
	};
	return 0;
}

void queue_region_destroy(struct client *c, struct core_ring *ring)
{
	if (ring->base)
		c->dev->ops->ring_free(c->cookie, ring);
	*ring = (struct core_ring){0};
}

uint64_t queue_region_size(const struct core_ring *ring)
{
	return ring->size;
}

uint32_t queue_region_entries(uint32_t n)
{
	uint32_t entries = n ? 1 : 0;
	while (entries < n)
		entries *= 2;
	return entries;
}
