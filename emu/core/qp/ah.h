/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handle: where a datagram goes (IBTA vol. 1, chapter 11; annex A17 for the GRH). */
#ifndef CORE_AH_H
#define CORE_AH_H

#include "emu/core/memory/memory.h"

struct ah {
	struct object obj;
	struct pd *pd;
	struct uhca_abi_ah_attr attr;
};

/*
 * Checks an address vector as create_ah and modify_qp do: a port of the device; on Ethernet a GRH
 * is present, the sgid index names a GID, the destination GID is not zero and, unless it is a
 * group's, of the same address family; on InfiniBand a LID, and the same of a GRH that is there.
 * 0 or -EINVAL.
 */
int ah_attr_check(struct device *dev, const struct uhca_abi_ah_attr *attr);

/* Fills in source and destination address, traffic class and hop limit; ports are left alone. */
void ah_attr_flow(const struct device *dev, const struct uhca_abi_ah_attr *attr,
		  struct roce_flow *flow);

extern const struct object_type object_ah;

#endif
