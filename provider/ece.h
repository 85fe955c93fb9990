/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enhanced connection establishment (ibv_query_ece(3), ibv_set_ece(3)): this device has no options
 * of its own to agree on, which is what vendor id 0 says.
 */
#ifndef UHCAV_ECE_H
#define UHCAV_ECE_H

#include <infiniband/verbs.h>

/* 0; *ece gets no vendor and no options. */
int uhcav_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);

/* 0, with what was accepted: nothing. EINVAL: options of a vendor, or an unknown comp_mask. */
int uhcav_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);

#endif
