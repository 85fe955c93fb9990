/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Legal chaos: the bytes of a train reach memory in any order, and some of them late. A requester
 * or responder may not depend on either (9.5), before a completion that stands for them. Some are
 * stored when they come; the rest is there before anything else is stored or read by the device,
 * before a completion enters its CQ, before a key or a QP is gone, and in any case after
 * config.late_bytes_ns.
 */
#ifndef CORE_LATE_STORE_H
#define CORE_LATE_STORE_H

#include "emu/abi/cqe.h"
#include "emu/core/base/base.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 or -ENOMEM: from now on the device stores so, if its configuration says so. */
int late_store_create(struct device *dev);
void late_store_destroy(struct device *dev);

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
int late_store_write(const struct device *dev, const struct late_write *w);

/* What is still to come is in memory when it returns. */
void late_store_settle(const struct device *dev);

/*
 * The same, before this completion enters its CQ; with config.late_writes that of a request does
 * not stand for what a WRITE has brought to its target (9.5).
 */
void late_store_complete(const struct device *dev, const struct uhca_abi_cqe *e);

/* The time at which it comes by itself, UINT64_MAX when there is nothing, and that time is there.
 */
uint64_t late_store_due(const struct device *dev);
void late_store_tick(const struct device *dev);

#endif
