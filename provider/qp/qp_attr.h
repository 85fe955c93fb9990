/* SPDX-License-Identifier: BSD-2-Clause */
/* QP attributes: struct ibv_qp_attr as the daemon's message has it, and back. */
#ifndef UHCAV_QP_ATTR_H
#define UHCAV_QP_ATTR_H

#include "emu/abi/cmd.h"

#include <infiniband/verbs.h>

/* Of the attributes, only those named in the mask are read. */
void uhcav_qp_attr_to_abi(const struct ibv_qp_attr *from, int attr_mask,
			  struct uhca_abi_qp_attr *to);

void uhcav_qp_attr_from_abi(const struct uhca_abi_qp_attr *from, struct ibv_qp_attr *to);

#endif
