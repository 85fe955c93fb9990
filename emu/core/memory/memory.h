/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory as such: protection domains, device memory, the shared memory of queues, the array of
 * pages and the extents by which a region is found, what is not visible yet and the barrier that
 * makes it so.
 *
 * Called by keys, and by all that have a queue. Begin with page_array.h.
 */
#ifndef CORE_MEMORY_MODULE_H
#define CORE_MEMORY_MODULE_H

#include "barrier.h"
#include "copy_on_poll.h"
#include "delayed_write.h"
#include "dm.h"
#include "extents.h"
#include "page_array.h"
#include "pd.h"
#include "queue_region.h"

#endif
