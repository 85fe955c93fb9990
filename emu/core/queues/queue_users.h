/* SPDX-License-Identifier: BSD-2-Clause */
/* What queues ask of the QPs that use them; core_create sets it (struct device.queue_users). */
#ifndef CORE_QUEUE_USERS_H
#define CORE_QUEUE_USERS_H

#include <stdbool.h>
#include <stdint.h>

struct device;
struct srq;

struct queue_users {
	/* A completion of this QP is an error. */
	void (*count_error)(const struct device *dev, uint32_t qpn);
	/* Whether its queues are made as those of rsockets are (deferred_completion.h). */
	bool (*is_like_rsocket)(const struct device *dev, uint32_t qpn);
	/* An SRQ of XRC ends: no QP points at it, its CQ or its protection domain any more. */
	void (*forget_srq)(struct device *dev, const struct srq *srq);
};

#endif
