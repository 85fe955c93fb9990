/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The builders of struct uhcadv_qp_ex: entries between ibv_wr_start and ibv_wr_complete, beside
 * those of qp_ex.c.
 */
#ifndef UHCAV_DV_WR_H
#define UHCAV_DV_WR_H

#include "provider/qp/qp.h"

#include <stdint.h>

/*
 * The opcodes (bits) that flags of enum uhcadv_qp_send_ops_flags ask for. 0 or -EOPNOTSUPP: a flag
 * that is none, what QPs of the type do not take, what the device (features) has not.
 */
int uhcav_dv_wr_opcodes(uint64_t flags, enum ibv_qp_type type, uint32_t features,
			uint32_t *opcodes);

/* A QP that uhcav_qp_ex_enable has given its table gets ours, too, for these opcodes. */
void uhcav_dv_wr_enable(struct uhcav_qp *qp, uint32_t opcodes);

#endif
