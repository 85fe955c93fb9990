/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "base": what stands alone. Locks and results, tables and queues in the process's own
 * memory, one exchange with the daemon, the private layouts of libibverbs. None of it knows an open
 * device or an object of verbs.
 *
 * Who may call: every module. It calls none.
 * Where to begin: rpc.h, then mr_table.h.
 */
#ifndef UHCAV_BASE_H
#define UHCAV_BASE_H

#include "clock.h"
#include "event_queue.h"
#include "got.h"
#include "inside.h"
#include "keep.h"
#include "lock.h"
#include "mem_probe.h"
#include "mr_table.h"
#include "number_map.h"
#include "result.h"
#include "rpc.h"
#include "shared_list.h"
#include "signals.h"
#include "uncancelled.h"
#include "verbs_private.h"
#include "yield_backoff.h"

#endif
