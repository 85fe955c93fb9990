/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single-producer single-consumer rings in shared memory. Indices run freely over 32 bits; the
 * number of slots is a power of two, and each side masks with its OWN copy of it, never with a
 * number read from the shared page. Producer and consumer index stand 128 bytes apart (two cache
 * lines: adjacent-line prefetch), each written by one side only.
 *
 * The four accesses are named by use. "publish" makes everything written before it visible to a
 * side that "observes" the same index; one's own index is read relaxed.
 *
 * A completion ring needs no producer index to be polled: each entry carries its own sequence
 * (cqe.h), so that a poller touches one cache line.
 */
#ifndef UHCA_ABI_RING_H
#define UHCA_ABI_RING_H

#include <assert.h>
#include <stdint.h>

struct uhca_abi_ring {
	uint32_t producer;
	uint8_t pad0[124];
	uint32_t consumer;
	uint32_t handled, reports_handled,
		takes_copies_on_poll; /* of a completion ring: region.h */
	uint32_t abandoned;           /* of an SRQ's ring: region.h */
	uint8_t pad1[108];
};
static_assert(sizeof(struct uhca_abi_ring) == 256, "two pairs of cache lines");

/* The owner of an index makes it (and all it wrote before) visible. */
static inline void uhca_ring_publish(uint32_t *index, uint32_t value)
{
	__atomic_store_n(index, value, __ATOMIC_RELEASE);
}

/* The other side reads it; everything published before it is visible afterwards. */
static inline uint32_t uhca_ring_observe(const uint32_t *index)
{
	return __atomic_load_n(index, __ATOMIC_ACQUIRE);
}

/* The owner reads its own index. */
static inline uint32_t uhca_ring_own(const uint32_t *index)
{
	return __atomic_load_n(index, __ATOMIC_RELAXED);
}

/*
 * Stands between "I published work" and "does the other side sleep?" on one side, and between
 * "I say that I sleep" and "is there work?" on the other: with a full fence on both, at least
 * one of the two sees what the other wrote.
 */
static inline void uhca_ring_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
