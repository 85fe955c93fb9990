/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared memory of a queue, as abi/region.h lays it out: one page with header and ring indices,
 * then the entries. CQs, QPs and SRQs make theirs here.
 */
#ifndef CORE_QUEUE_REGION_H
#define CORE_QUEUE_REGION_H

#include "emu/core/base/base.h"

#define QUEUE_REGION_PAGE 4096u

/* Allocates at least size bytes, zeroed, rounded up to whole pages. 0 or -ENOMEM. */
int queue_memory_create(struct client *c, uint64_t size, struct core_ring *out);

/*
 * The same with a header: allocates at least size bytes (the first page included), rounded up to
 * whole pages, and writes the region header; kind is one of UHCA_ABI_REGION_*. 0 or -ENOMEM.
 */
int queue_region_create(struct client *c, uint32_t kind, uint64_t size, struct core_ring *out);
void queue_region_destroy(struct client *c, struct core_ring *ring);

/* Bytes of the region as its header and the create reply tell it. */
uint64_t queue_region_size(const struct core_ring *ring);

/* Slots of a queue for n requests: the next power of two, 0 for none; n <= 2^31. */
uint32_t queue_region_entries(uint32_t n);

#endif
