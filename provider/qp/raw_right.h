/* SPDX-License-Identifier: BSD-2-Clause */
/* The right to raw packet queue pairs (CAP_NET_RAW), as a program shows it to the daemon. */
#ifndef UHCAV_RAW_RIGHT_H
#define UHCAV_RAW_RIGHT_H

#include "provider/context/context.h"

#include <infiniband/verbs.h>

/*
 * CREATE_QP for a queue pair of this type: with a raw socket where that is a raw packet queue pair
 * and the system lets us have one. 0 or -errno.
 */
int uhcav_raw_right_call(struct uhcav_context *ctx, struct uhcav_call *call, enum ibv_qp_type type);

#endif
