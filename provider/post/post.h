/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "post": writing work requests into rings. ibv_post_send and ibv_post_recv, ibv_wr_*,
 * binds, and the creation of those objects that carry functions which post.
 *
 * Who may call: dv, whose requests are entries of the same rings; the op table. It calls qp,
 * queues, keys, context and base. Where to begin: post_send.c, then send_wqe.h.
 */
#ifndef UHCAV_POST_H
#define UHCAV_POST_H

#include "create_qp_ex.h"
#include "create_wq.h"
#include "post_recv.h"
#include "post_send.h"
#include "qp_ex.h"
#include "send_wqe.h"

#endif
