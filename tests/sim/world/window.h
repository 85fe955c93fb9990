/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows for named tests: side b of a pair has a region that may be bound to, and binds windows
 * to parts of it through its own queue.
 */
#ifndef SIM_WINDOW_H
#define SIM_WINDOW_H

#include "pair.h"

/* An access flag; in later releases of libibverbs. */
#define WINDOW_FLUSH_GLOBAL (1u << 8)

#define WINDOW_RIGHTS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* The key a bind gives next: the consumer counts the key byte up. */
static inline uint32_t window_next_key(uint32_t key)
{
	return (key & ~0xffu) | ((key + 1) & 0xff);
}

/*
 * A pair whose devices have windows of type 2A in place of 2B, with these access flags of its QPs;
 * seed 0: the default.
 */
void window_pair(struct pair *p, bool type_2a, uint32_t qp_access, uint64_t seed);

/* Another region over the buffer of the side, with MW_BIND and these rights. */
void window_region(struct side *s, uint32_t access, struct vmr *out);

/* Allocates in the side's domain; asserts success. */
void window_alloc(struct side *s, uint32_t type, struct vmw *out);

/*
 * Posts a signalled bind of the window to [offset, offset + length) of the region's buffer, with
 * the next key. On success of the post w->rkey is that key.
 */
void window_bind(struct side *s, uint64_t wr_id, struct vmw *w, const struct vmr *mr,
		 const struct vsend *range);

/* The same, and waits for its completion, whose status is returned. */
uint8_t window_bind_wait(struct side *s, struct vmw *w, const struct vmr *mr,
			 const struct vsend *range);

/* Signalled LOCAL_INV of the key. */
void window_invalidate(struct side *s, uint64_t wr_id, uint32_t key, uint16_t flags);

/* One request with a key and an address of one's own; signalled. */
void window_use(struct side *s, const struct vsend *how, uint32_t local, uint32_t length);

#endif
