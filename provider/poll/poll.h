/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "poll": taking completions. ibv_poll_cq, the calls of extended CQs, and asking for an
 * event when there is nothing to take.
 *
 * Who may call: the op table, and who needs to know our functions from another provider's. It calls
 * qp, queues, keys, context and base.
 * Where to begin: poll_cq.c.
 */
#ifndef UHCAV_POLL_H
#define UHCAV_POLL_H

#include "arm_cq.h"
#include "cq_ex.h"
#include "poll_cq.h"

#endif
