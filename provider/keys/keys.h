/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "keys": protection domains, and what keys stand for in them. Regions of any kind of
 * memory, windows, device memory, shared memory, and such objects of another process.
 *
 * Who may call: queues and qp, whose objects live in domains and take their buffers from them; poll
 * and post, which bind windows; dv, for keys without memory; the op table. It calls context and
 * base. Where to begin: pd.h, then mr.c.
 */
#ifndef UHCAV_KEYS_H
#define UHCAV_KEYS_H

#include "dm.h"
#include "dma_handle.h"
#include "import.h"
#include "mr.h"
#include "mw.h"
#include "parent_domain.h"
#include "pd.h"
#include "shared_memory.h"
#include "special_mr.h"

#endif
