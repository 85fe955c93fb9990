/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory as such: protection domains, device memory, the shared memory of queues, the array of
 * pages and the extents by which a region is found, and stores that are late.
 *
 * Called by keys, and by all that have a queue. Begin with page_array.h.
 */
#ifndef CORE_MEMORY_DOOR_H
#define CORE_MEMORY_DOOR_H

#include "dm.h"
#include "extents.h"
#include "late_store.h"
#include "offer.h"
#include "page_array.h"
#include "pd.h"
#include "queue_region.h"

#endif
