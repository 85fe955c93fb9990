/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enhanced connection establishment (ibv_query_ece(3), ibv_set_ece(3)): what two devices of ours
 * can do that no standard says, so that neither sends what the other does not know. The two ends
 * tell each other when they connect, librdmacm in its REQ and REP (IBTA vol. 1, 12.6), others by
 * their own means.
 */
#ifndef UHCAV_ECE_H
#define UHCAV_ECE_H

#include <infiniband/verbs.h>

struct uhcav_qp;

/* Bits of ibv_ece.options where vendor_id is UHCAV_ECE_VENDOR. New ones may come. */
enum uhcav_ece_option {
	UHCAV_ECE_MASKED_ATOMICS = 1 << 0, /* opcodes 0xc0 and 0xc1 */
};

#define UHCAV_ECE_VENDOR 0x75ca

/* What the QP has, or what remained of it after ibv_set_ece. 0 or an errno value. */
int uhcav_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);

/*
 * What the peer has: options that are not among it can no longer be posted (EOPNOTSUPP), which is
 * all of them for a peer of another vendor. *ece gets what remains. Until it is called everything
 * is taken to be there, and again from RESET on. 0, or an errno value: EINVAL for an unknown
 * comp_mask.
 */
int uhcav_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);

#endif
