/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sending side of a QP: from a posted request to packets (requester.h), from answers to
 * completions (completer.h), and again when something is lost (retry.h).
 *
 * Called by packets for each burst that comes or may go, by qp through send_engine; receive shares
 * the form of masked atomics. Begin with requester.h.
 */
#ifndef CORE_SEND_MODULE_H
#define CORE_SEND_MODULE_H

#include "completer.h"
#include "emu/core/qp/queue_pair.h"
#include "masked_atomic.h"
#include "requester.h"
#include "retry.h"
#include "send_check.h"
#include "send_pace.h"
#include "send_rate.h"

/* In the list of engines: what it does when its QP begins, changes state and ends. */
extern const struct qp_engine send_engine;

#endif
