/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Legal chaos: the bytes of a burst reach memory in any order, and some of them late. A requester
 * or responder may not depend on either (9.5), before a completion that stands for them. Some are
 * stored when they come; the rest when the barrier says so (barrier.h), and in any case after
 * config.late_bytes_ns.
 */
#ifndef CORE_DELAYED_WRITE_H
#define CORE_DELAYED_WRITE_H

#include "emu/core/base/base.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 or -ENOMEM: from now on the device stores so, if its configuration says so. */
int delayed_write_create(struct device *dev);
void delayed_write_destroy(struct device *dev);

/* The arguments of core_ops.mem_write. */
struct late_write {
	struct client *client;
	const struct core_span *to;
	unsigned n;
	const struct iovec *from;
	unsigned n_from;
	bool of_write; /* an RDMA WRITE, of which config.late_writes speaks */
};

/* As core_ops.mem_write. */
int delayed_write_write(const struct device *dev, const struct late_write *w);

/* What is still to come is in memory when it returns; make_visible (barrier.h) calls it. */
void delayed_write_settle(const struct device *dev);

/*
 * The same of what the completion of a request stands for; with config.late_writes that is not what
 * a WRITE has brought to its target (9.5).
 */
void delayed_write_settle_requests(const struct device *dev);

/*
 * The time at which it comes by itself, UINT64_MAX when there is nothing, and that time is there.
 */
uint64_t delayed_write_due(const struct device *dev);
void delayed_write_tick(const struct device *dev);

#endif
