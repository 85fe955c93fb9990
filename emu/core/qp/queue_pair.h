/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs: the struct with what both of its sides keep, its life and states, what a client may
 * ask of it, its addresses and doorbells, its errors.
 *
 * Called by the engines (send, receive, packets) and by cm, which it calls only through the rows of
 * engine.h. Begin with qp.h, then qp_modify.c and qp_error.c for the states.
 */
#ifndef CORE_QUEUE_PAIR_MODULE_H
#define CORE_QUEUE_PAIR_MODULE_H

#include "ah.h"
#include "budget.h"
#include "engine.h"
#include "qp.h"
#include "qp_share.h"
#include "qp_state.h"
#include "receive_side.h"
#include "replay.h"
#include "send_side.h"

#endif
