/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi_commands.h"

#include <stddef.h>

#define SIZE(name) sizeof(struct uhca_cmd_##name)
#define AT(name, member, what)                                                                     \
	{                                                                                          \
		offsetof(struct uhca_cmd_##name, member), ABI_##what, false                        \
	}
#define MAY(name, member, what)                                                                    \
	{                                                                                          \
		offsetof(struct uhca_cmd_##name, member), ABI_##what, true                         \
	}
#define NAMES(what)                                                                                \
	{                                                                                          \
		AT(handle, handle, what)                                                           \
	}
#define DESTROY(what)                                                                              \
	{                                                                                          \
		SIZE(handle), 0, 0, ABI_##what, NAMES(what)                                        \
	}

/* clang-format off */
const struct abi_command abi_commands[UHCA_CMD_COUNT] = {
	[UHCA_CMD_HELLO] = {SIZE(hello), 2, 0, 0, {{0}}},
	[UHCA_CMD_QUERY_DEVICE] = {SIZE(handle), 0, 0, 0, {{0}}},
	[UHCA_CMD_QUERY_PORT] = {SIZE(handle), 0, 0, 0, {{0}}},
	[UHCA_CMD_QUERY_GID] = {SIZE(handle), 0, 0, 0, {{0}}},
	[UHCA_CMD_ALLOC_PD] = {SIZE(handle), 0, ABI_PD, 0, {{0}}},
	[UHCA_CMD_DEALLOC_PD] = DESTROY(PD),
	[UHCA_CMD_REG_MR] = {SIZE(reg_mr), 0, ABI_MR, 0, {AT(reg_mr, pd, PD)}},
	[UHCA_CMD_DEREG_MR] = DESTROY(MR),
	[UHCA_CMD_CREATE_CHANNEL] = {SIZE(handle), 1, ABI_CHANNEL, 0, {{0}}},
	[UHCA_CMD_DESTROY_CHANNEL] = DESTROY(CHANNEL),
	[UHCA_CMD_CREATE_CQ] = {SIZE(create_cq), 0, ABI_CQ, 0, {MAY(create_cq, channel, CHANNEL)}},
	[UHCA_CMD_DESTROY_CQ] = DESTROY(CQ),
	[UHCA_CMD_CREATE_QP] = {SIZE(create_qp), 0, ABI_QP, 0,
				{AT(create_qp, pd, PD), AT(create_qp, send_cq, CQ),
				 AT(create_qp, recv_cq, CQ), MAY(create_qp, srq, SRQ)}},
	[UHCA_CMD_MODIFY_QP] = {SIZE(modify_qp), 0, 0, 0, {AT(modify_qp, handle, QP)}},
	[UHCA_CMD_QUERY_QP] = {SIZE(handle), 0, 0, 0, NAMES(QP)},
	[UHCA_CMD_DESTROY_QP] = DESTROY(QP),
	[UHCA_CMD_CREATE_SRQ] = {SIZE(create_srq), 0, ABI_SRQ, 0,
				 {AT(create_srq, pd, PD), MAY(create_srq, xrcd, XRCD),
				  MAY(create_srq, cq, CQ)}},
	[UHCA_CMD_MODIFY_SRQ] = {SIZE(modify_srq), 0, 0, 0, {AT(modify_srq, handle, SRQ)}},
	[UHCA_CMD_QUERY_SRQ] = {SIZE(handle), 0, 0, 0, NAMES(SRQ)},
	[UHCA_CMD_DESTROY_SRQ] = DESTROY(SRQ),
	[UHCA_CMD_CREATE_AH] = {SIZE(create_ah), 0, ABI_AH, 0, {AT(create_ah, pd, PD)}},
	[UHCA_CMD_DESTROY_AH] = DESTROY(AH),
	[UHCA_CMD_ATTACH_MCAST] = {SIZE(mcast), 0, 0, 0, {AT(mcast, qp, QP)}},
	[UHCA_CMD_DETACH_MCAST] = {SIZE(mcast), 0, 0, 0, {AT(mcast, qp, QP)}},
	[UHCA_CMD_ALLOC_MW] = {SIZE(alloc_mw), 0, ABI_MW, 0, {AT(alloc_mw, pd, PD)}},
	[UHCA_CMD_DEALLOC_MW] = DESTROY(MW),
	[UHCA_CMD_REREG_MR] = {SIZE(rereg_mr), 0, 0, 0,
			       {AT(rereg_mr, handle, MR), MAY(rereg_mr, pd, PD)}},
	[UHCA_CMD_ALLOC_NULL_MR] = {SIZE(handle), 0, ABI_MR, 0, NAMES(PD)},
	[UHCA_CMD_ADVISE_MR] = {SIZE(advise_mr), 0, 0, 0, {AT(advise_mr, pd, PD)}},
	[UHCA_CMD_ALLOC_DM] = {SIZE(alloc_dm), 0, ABI_DM, 0, {{0}}},
	[UHCA_CMD_FREE_DM] = DESTROY(DM),
	[UHCA_CMD_REG_DM_MR] = {SIZE(reg_dm_mr), 0, ABI_MR, 0,
				{AT(reg_dm_mr, pd, PD), AT(reg_dm_mr, dm, DM)}},
	[UHCA_CMD_OPEN_XRCD] = {SIZE(open_xrcd), 1, ABI_XRCD, 0, {{0}}},
	[UHCA_CMD_CLOSE_XRCD] = DESTROY(XRCD),
	[UHCA_CMD_OPEN_QP] = {SIZE(open_qp), 0, ABI_QP, 0, {AT(open_qp, xrcd, XRCD)}},
	[UHCA_CMD_RESIZE_CQ] = {SIZE(resize_cq), 0, 0, 0, {AT(resize_cq, handle, CQ)}},
	[UHCA_CMD_EXPORT] = {SIZE(handle), 0, 0, 0, {{0}}},
	[UHCA_CMD_IMPORT] = {SIZE(import), 0, 0, 0, {MAY(import, handle, MR)}},
	[UHCA_CMD_MODIFY_CQ] = {SIZE(modify_cq), 0, 0, 0, {AT(modify_cq, handle, CQ)}},
	[UHCA_CMD_NOTIFY_CQ] = {SIZE(handle), 0, 0, 0, NAMES(CQ)},
	[UHCA_CMD_CREATE_WQ] = {SIZE(create_wq), 0, ABI_WQ, 0,
				{AT(create_wq, pd, PD), AT(create_wq, cq, CQ)}},
	[UHCA_CMD_MODIFY_WQ] = {SIZE(modify_wq), 0, 0, 0, {AT(modify_wq, handle, WQ)}},
	[UHCA_CMD_DESTROY_WQ] = DESTROY(WQ),
	[UHCA_CMD_CREATE_RWQ_IND_TABLE] = {SIZE(create_rwq_ind_table), 0, ABI_TABLE, 0,
					   {AT(create_rwq_ind_table, wq[0], WQ),
					    AT(create_rwq_ind_table, wq[1], WQ)}},
	[UHCA_CMD_DESTROY_RWQ_IND_TABLE] = DESTROY(TABLE),
	[UHCA_CMD_CREATE_FLOW] = {SIZE(create_flow), 0, ABI_FLOW, 0, {AT(create_flow, qp, QP)}},
	[UHCA_CMD_DESTROY_FLOW] = DESTROY(FLOW),
	[UHCA_CMD_ALLOC_KEY] = {SIZE(alloc_key), 0, ABI_MR, 0, {AT(alloc_key, pd, PD)}},
	[UHCA_CMD_DESCRIBE_KEY] = {SIZE(describe_key), 0, 0, 0, {{0}}},
	[UHCA_CMD_REG_SHARED_MR] = {SIZE(reg_shared_mr), 0, ABI_MR, 0,
				    {AT(reg_shared_mr, pd, PD), AT(reg_shared_mr, dm, DM)}},
	[UHCA_CMD_FAULT_CHECK] = {SIZE(fault_check), 0, 0, 0,
				  {MAY(fault_check, srq, SRQ), MAY(fault_check, cq, CQ)}},
	[UHCA_CMD_ATTACH_ARENA] = {SIZE(attach_arena), 1, 0, 0, {{0}}},
	[UHCA_CMD_CREATE_COMP_CNTR] = {SIZE(create_comp_cntr), 0, ABI_COMP_CNTR, 0, {{0}}},
	[UHCA_CMD_DESTROY_COMP_CNTR] = DESTROY(COMP_CNTR),
	[UHCA_CMD_SET_COMP_CNTR] = {SIZE(modify_comp_cntr), 0, 0, 0,
				    {AT(modify_comp_cntr, handle, COMP_CNTR)}},
	[UHCA_CMD_INC_COMP_CNTR] = {SIZE(modify_comp_cntr), 0, 0, 0,
				    {AT(modify_comp_cntr, handle, COMP_CNTR)}},
	[UHCA_CMD_ATTACH_COMP_CNTR] = {SIZE(attach_comp_cntr), 0, 0, 0,
				       {AT(attach_comp_cntr, qp, QP),
					AT(attach_comp_cntr, comp_cntr, COMP_CNTR)}},
	[UHCA_CMD_REG_PINNED_MR] = {SIZE(reg_pinned_mr), 0, ABI_MR, 0,
				     {AT(reg_pinned_mr, mr.pd, PD)}},
	[UHCA_CMD_REFUSED] = {SIZE(refused), 0, 0, 0, {{0}}},
	[UHCA_CMD_RESIZE_SRQ] = {SIZE(modify_srq), 0, 0, 0, {AT(modify_srq, handle, SRQ)}},
	[UHCA_CMD_QUERY_PEER] = {SIZE(query_peer), 0, 0, 0,
				 {AT(query_peer, handle, QP), MAY(query_peer, ah, AH)}},
};
/* clang-format on */

bool abi_commands_are_all(void)
{
	for (unsigned cmd = 1; cmd < UHCA_CMD_COUNT; cmd++)
		if (abi_commands[cmd].size < sizeof(struct uhca_cmd_request))
			return false;
	return true;
}
