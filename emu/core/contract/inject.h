/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fails in hardware and the specification only describes from outside: for who wants to see
 * what programs do then. Part of core.h. Nothing here is called on the data path. Each works on
 * the object as if the device had found the fault itself: the same states, flushes and events.
 * Numbers are those that uhcactl shows. 0, -ENOENT (no such object), -EINVAL.
 */
#ifndef CORE_INJECT_H
#define CORE_INJECT_H

#include "emu/abi/cqe.h"

#include <stdbool.h>
#include <stdint.h>

struct device;

/* What an event may be of; 0: of none. */
struct core_event_of {
	uint32_t qpn, srq, cq, wq; /* a QP's number, handles */
};

/* Is the event one of the device or its port, and not of an object? */
bool core_event_of_device(uint32_t type);

/*
 * An asynchronous event (UHCA_ABI_EVENT_*), of the object of its kind, or of the port or device.
 * Only the event: no state changes. -EINVAL: there is no such event.
 */
int core_inject_event(struct device *dev, uint32_t type, const struct core_event_of *of);

/* The QP goes to ERR by a failure of its own (10.10.2.3): requests are flushed, QP_FATAL. */
int core_inject_qp_error(struct device *dev, uint32_t qpn, uint64_t now);

/*
 * The CQ has no room any more: CQ_ERR (11.6.3.1), it takes nothing, and a QP that has something
 * for it fails.
 */
int core_inject_cq_overrun(struct device *dev, uint32_t cqn);

/*
 * A completion that core_ops.completion kept back, or one made up; that is not asked again. -ENOENT
 * also when its QP has gone meanwhile.
 */
int core_inject_completion(struct device *dev, uint32_t cqn, const struct uhca_abi_cqe *e,
			   uint64_t now);

/*
 * The key opens nothing from now on, for either side, until its object gets another key; windows
 * on it and descriptions over it open nothing either. A window is bound to nothing then.
 */
int core_inject_revoke(struct device *dev, uint32_t key);

/* While on, a new region or window gets the key that was freed last. */
void core_inject_key_reuse(struct device *dev, bool on);

/*
 * From now on (or no longer) a new region's R_Key is not its L_Key: the key byte is another, and
 * each opens nothing where the other belongs. What was made before keeps what it has; described
 * keys (uhcadv_alloc_mr(3)) have one number for both.
 */
void core_inject_key_split(struct device *dev, bool on);

/*
 * The event of a CQ that is armed, without a completion: whoever is woken finds what is there, or
 * nothing (ibv_get_cq_event(3)). 0 or -ENOENT.
 */
int core_inject_cq_notify(struct device *dev, uint32_t cqn);

/*
 * Changes a limit (core_limit_name) while the device works; objects that are there stay. -ERANGE:
 * more objects than the device was made for, or a value that no device can have.
 */
int core_inject_limit(struct device *dev, const char *name, uint64_t value);

#endif
