/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder's atomic operations (IBTA vol. 1, 9.4.5): one thread runs a device, so read,
 * compute, write is atomic against every other operation of this HCA (IBV_ATOMIC_HCA).
 */
#ifndef CORE_ATOMIC_H
#define CORE_ATOMIC_H

#include "emu/core/keys/keys.h"
#include "emu/core/send/send.h"

/*
 * COMPARE & SWAP (cas) or FETCH & ADD of 8 bytes at h->va of a region that passed mr_check.
 * *original gets the value before, in host order. 0 or -EFAULT.
 */
int atomic_execute(const struct device *dev, struct mr *mr, const struct roce_atomiceth *h,
		   bool cas, uint64_t *original);

/*
 * Executes an atomic with masks at va of a region that passed mr_check. *original gets the value
 * before. 0, or -EFAULT or -ESRCH as sgl_read_mr; not -ESRCH once the value was read: a store that
 * is late could be done twice.
 */
int masked_execute(const struct device *dev, struct mr *mr, uint64_t va,
		   const struct masked_atomic *m, struct masked_int *original);

#endif
