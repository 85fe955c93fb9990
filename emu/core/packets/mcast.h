/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups (IBTA vol. 1, 10.5; ibv_attach_mcast(3)): which datagram QPs of the device get
 * a copy of what is sent to a group. A group is there while a QP is attached to it; the shell is
 * told when it comes and goes (core_ops.mcast). The network side of joining is the shell's.
 */
#ifndef CORE_MCAST_H
#define CORE_MCAST_H

#include "emu/core/qp/queue_pair.h"

#define MCAST_QPN 0xffffffu /* destination QP of all datagrams to groups */

struct mcast_group {
	struct list link; /* on dev->groups */
	uint8_t gid[16];  /* canonical */
	struct list members;
	uint32_t n_members;
};

/*
 * A datagram to a group: each attached QP that may receive it gets its copy, the sender's own
 * included unless it was made with "block self multicast loopback". Devices without such a group
 * are silent.
 */
void mcast_receive(struct device *dev, const struct core_burst *t);

/* A QP that ends is a member no longer. */
extern const struct qp_engine mcast_engine;

#endif
