/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copy on poll: the payload of a short receive stands in the region of its completion queue. The
 * client copies it to the receive buffer when it polls the completion (cqe.h), which saves the
 * daemon a system call. Before the daemon reads or stores other data of the client, it makes the
 * copy itself, so that programs see no difference.
 *
 * The client changes the state from PENDING to CLIENT, copies, and changes it to DONE. The daemon
 * never waits: it changes PENDING or CLIENT to DEVICE, copies, and changes it to DONE or back to
 * CLIENT. In the second case both copy the same bytes. The client's copy has ended, and its program
 * goes on, when the state is neither CLIENT nor DEVICE.
 */
#ifndef UHCA_ABI_COPY_ON_POLL_H
#define UHCA_ABI_COPY_ON_POLL_H

#include <assert.h>
#include <stdint.h>

#define UHCA_ABI_COPY_ON_POLL_SLOTS 64u   /* slots of a completion queue */
#define UHCA_ABI_COPY_ON_POLL_BYTES 4096u /* of payload */

enum {
	UHCA_ABI_COPY_ON_POLL_DONE = 0, /* also of a slot that was never used */
	UHCA_ABI_COPY_ON_POLL_PENDING = 1,
	UHCA_ABI_COPY_ON_POLL_CLIENT = 2,
	UHCA_ABI_COPY_ON_POLL_DEVICE = 3,
};

struct uhca_abi_copy_on_poll {
	uint32_t state;
	uint32_t length;
	uint64_t addr; /* the client's */
	uint8_t pad[48];
	uint8_t bytes[UHCA_ABI_COPY_ON_POLL_BYTES];
};
static_assert(sizeof(struct uhca_abi_copy_on_poll) == 4160, "a cache line and the payload");

/* From one state to another; 0: it was not in the first. */
static inline int uhca_copy_on_poll_exchange(struct uhca_abi_copy_on_poll *o, uint32_t from,
					     uint32_t to)
{
	return __atomic_compare_exchange_n(&o->state, &from, to, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

static inline void uhca_copy_on_poll_set(struct uhca_abi_copy_on_poll *o, uint32_t state)
{
	__atomic_store_n(&o->state, state, __ATOMIC_RELEASE);
}

static inline uint32_t uhca_copy_on_poll_state(const struct uhca_abi_copy_on_poll *o)
{
	return __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
}

#endif
