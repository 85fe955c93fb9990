/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory keys: regions and windows, how a key is made, described, bound and taken away, and the way
 * from (key, address, length) to the client's memory, with every check on it.
 *
 * Called by who reads and writes memory for a work request: queues, send, receive, packets. It
 * knows no QP: who names a key is struct key_user. Begin with mr.h, then sgl.h.
 */
#ifndef CORE_KEYS_MODULE_H
#define CORE_KEYS_MODULE_H

#include "indirect.h"
#include "invalidate.h"
#include "key_cause.h"
#include "key_reuse.h"
#include "mr.h"
#include "mw.h"
#include "sgl.h"

#endif
