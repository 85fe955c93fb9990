/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asking for a completion event (ibv_req_notify_cq(3)): the next completion that is not polled yet
 * raises it, also one that came before the CQ was armed.
 */
#ifndef UHCAV_ARM_CQ_H
#define UHCAV_ARM_CQ_H

#include <infiniband/verbs.h>

/* 0 or an errno value. */
int uhcav_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);

#endif
