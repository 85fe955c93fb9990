/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages about completion counters (ibv_create_comp_cntr(3)). The program reads a
 * counter in memory that it shares with the device (struct uhca_abi_comp_cntr). See cmd_header.h
 * for the protocol.
 */
#ifndef UHCA_ABI_CMD_COUNTER_H
#define UHCA_ABI_CMD_COUNTER_H

#include "cmd_header.h"

/* The bits of enum ibv_qp_attach_comp_cntr_op, as numbers. */
enum uhca_abi_comp_op {
	UHCA_ABI_COMP_SEND,
	UHCA_ABI_COMP_RECV,
	UHCA_ABI_COMP_RDMA_READ,
	UHCA_ABI_COMP_REMOTE_RDMA_READ,
	UHCA_ABI_COMP_RDMA_WRITE,
	UHCA_ABI_COMP_REMOTE_RDMA_WRITE,
	UHCA_ABI_COMP_OPS
};

/* enum ibv_comp_cntr_type */
enum { UHCA_ABI_COMP_WRS, UHCA_ABI_COMP_BYTES };

struct uhca_cmd_create_comp_cntr {
	struct uhca_cmd_request h;
	uint32_t type;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_create_comp_cntr) == 24, "create_comp_cntr");

/* Carries one descriptor: the counter's region. */
struct uhca_cmd_create_comp_cntr_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t reserved;
	uint64_t region_size;
};
static_assert(sizeof(struct uhca_cmd_create_comp_cntr_reply) == 32, "create_comp_cntr reply");

/* SET_COMP_CNTR and INC_COMP_CNTR; their reply is the header alone. */
struct uhca_cmd_modify_comp_cntr {
	struct uhca_cmd_request h;
	uint32_t handle;
	uint32_t errors; /* 1: the count of errors; 0: of successes */
	uint64_t value;
};
static_assert(sizeof(struct uhca_cmd_modify_comp_cntr) == 32, "modify_comp_cntr");

/* ATTACH_COMP_CNTR; its reply is the header alone. */
struct uhca_cmd_attach_comp_cntr {
	struct uhca_cmd_request h;
	uint32_t qp;
	uint32_t comp_cntr;
	uint32_t op_mask; /* bits, 1 << enum uhca_abi_comp_op */
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_attach_comp_cntr) == 32, "attach_comp_cntr");

#endif
