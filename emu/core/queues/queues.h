/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rings shared with a client: completion queues, shared receive queues with their XRC domains, work
 * queues with the tables that spread frames over them; and the device's look into any ring.
 *
 * Called by qp and all above it. What a queue asks of the QPs that use it stands in queue_users.h.
 * Begin with cq.h and wqe_fetch.h.
 */
#ifndef CORE_QUEUES_MODULE_H
#define CORE_QUEUES_MODULE_H

#include "comp_cntr.h"
#include "cq.h"
#include "queue_users.h"
#include "recv_queue.h"
#include "rss.h"
#include "srq.h"
#include "wq.h"
#include "wqe_fetch.h"
#include "xrcd.h"

#endif
