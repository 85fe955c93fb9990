/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups (IBTA vol. 1, 10.5; ibv_attach_mcast(3)): which datagram QPs of the device get
 * a copy of what is sent to a group. A group is there while a QP is attached to it; the shell is
 * told when it comes and goes (core_ops.mcast). The network side of joining is the shell's.
 */
#ifndef CORE_MCAST_H
#define CORE_MCAST_H

#include "emu/core/base/device.h"

#define MCAST_QPN 0xffffffu /* destination QP of all datagrams to groups */

struct mcast_group {
	struct list link; /* on dev->groups */
	uint8_t gid[16];  /* canonical */
	struct list members;
	uint32_t n_members;
};

struct mcast_member {
	struct list link; /* on the group's members */
	struct qp *qp;
};

/* A group's GID: ff00::/8, or an IPv4 multicast address as a mapped one (annex A17). */
bool mcast_gid(const uint8_t gid[16]);

/*
 * The form in which groups are compared and packets carry them: ffxx::ffff:a.b.c.d, another way to
 * write an IPv4 group, becomes ::ffff:a.b.c.d.
 */
void mcast_canonical(const uint8_t gid[16], uint8_t out[16]);

/* The QP ends, attached or not. */
void mcast_forget_qp(struct qp *qp);

/* The group with this GID, canonical, or NULL. */
struct mcast_group *mcast_find_group(const struct device *dev, const uint8_t gid[16]);

#endif
