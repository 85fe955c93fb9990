/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages of raw packet queue pairs: steering rules, work queues and the tables that
 * spread frames over them. See cmd_header.h.
 */
#ifndef UHCA_ABI_CMD_RAW_H
#define UHCA_ABI_CMD_RAW_H

#include "cmd_queue.h"

#define UHCA_ABI_FLOW_SPECS  8u
#define UHCA_ABI_FLOW_FIELDS 40u

/*
 * One specification of a rule: type is enum ibv_flow_spec_type, value and mask have the layout of
 * the filter structure of that type. ACTION_TAG has its number in the first four bytes of value,
 * in host order; ACTION_DROP has nothing.
 */
struct uhca_abi_flow_spec {
	uint32_t type;
	uint32_t reserved;
	uint8_t value[UHCA_ABI_FLOW_FIELDS];
	uint8_t mask[UHCA_ABI_FLOW_FIELDS];
};
static_assert(sizeof(struct uhca_abi_flow_spec) == 88, "flow specification");

/* CREATE_FLOW: the numbers are those of struct ibv_flow_attr. The reply is a handle. */
struct uhca_cmd_create_flow {
	struct uhca_cmd_request h;
	uint32_t qp;
	uint32_t type;
	uint32_t flags;
	uint16_t priority;
	uint8_t port;
	uint8_t n_specs;
	struct uhca_abi_flow_spec spec[UHCA_ABI_FLOW_SPECS];
};
static_assert(sizeof(struct uhca_cmd_create_flow) == 736, "create_flow");

/*
 * CREATE_WQ: a receive queue of its own (struct ibv_wq_init_attr). The reply is that of CREATE_SRQ,
 * with the WQ's number: 2^24 and more, never a QP number.
 */
struct uhca_cmd_create_wq {
	struct uhca_cmd_request h;
	uint64_t cookie;
	uint32_t pd;
	uint32_t cq;
	uint32_t wq_type;
	uint32_t max_wr;
	uint32_t max_sge;
	uint32_t create_flags;
};
static_assert(sizeof(struct uhca_cmd_create_wq) == 48, "create_wq");

/*
 * MODIFY_WQ: struct ibv_wq_attr. ERR to ERR flushes what was posted since: a client does it
 * after a post while recv_doorbell is set.
 */
struct uhca_cmd_modify_wq {
	struct uhca_cmd_request h;
	uint32_t handle;
	uint32_t attr_mask;
	uint32_t wq_state;
	uint32_t curr_wq_state;
	uint32_t flags;
	uint32_t flags_mask;
};
static_assert(sizeof(struct uhca_cmd_modify_wq) == 40, "modify_wq");

#define UHCA_ABI_IND_TABLE_LOG 7u /* a table has at most 128 entries */

/* CREATE_RWQ_IND_TABLE: handles of the WQs, 1 << log_size of them. The reply is a handle. */
struct uhca_cmd_create_rwq_ind_table {
	struct uhca_cmd_request h;
	uint32_t log_size;
	uint32_t reserved;
	uint32_t wq[1u << UHCA_ABI_IND_TABLE_LOG];
};
static_assert(sizeof(struct uhca_cmd_create_rwq_ind_table) == 536, "create_rwq_ind_table");

#endif
