/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiving side of a QP: each burst of requests is judged (responder.h), executed (execute.h)
 * and answered (answer.h).
 *
 * Called by packets for each burst that comes or may go, by qp through receive_engine. Begin with
 * responder.h.
 */
#ifndef CORE_RECEIVE_MODULE_H
#define CORE_RECEIVE_MODULE_H

#include "answer.h"
#include "emu/core/qp/queue_pair.h"
#include "receive_wr.h"
#include "responder.h"

/* In the list of engines: what it does when its QP begins, changes state and ends. */
extern const struct qp_engine receive_engine;

#endif
