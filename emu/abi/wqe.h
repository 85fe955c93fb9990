/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work queue entries. A send slot is a 64-byte entry followed by max_send_sge scatter/gather
 * elements; beside the slots lies a data area with data_stride bytes per slot, where the client
 * puts inline data, data it gathered early, and the bodies of extended requests. A receive slot
 * is a 16-byte entry followed by its elements. Strides come with the create reply.
 *
 * The device copies an entry before it looks at it (wqe_fetch.c is the only reader). Numbers are
 * in host order; what travels as big-endian in verbs (immediate data) is kept as verbs has it.
 */
#ifndef UHCA_ABI_WQE_H
#define UHCA_ABI_WQE_H

#include "layout.h"

#include <assert.h>
#include <stdint.h>

/* Same layout as struct ibv_sge. */
struct uhca_abi_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};
static_assert(sizeof(struct uhca_abi_sge) == 16, "as struct ibv_sge");

/* Send opcodes: the values of enum ibv_wr_opcode where verbs has one. */
enum {
	UHCA_ABI_WR_RDMA_WRITE = 0,
	UHCA_ABI_WR_RDMA_WRITE_WITH_IMM = 1,
	UHCA_ABI_WR_SEND = 2,
	UHCA_ABI_WR_SEND_WITH_IMM = 3,
	UHCA_ABI_WR_RDMA_READ = 4,
	UHCA_ABI_WR_ATOMIC_CMP_AND_SWP = 5,
	UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD = 6,
	UHCA_ABI_WR_LOCAL_INV = 7,
	UHCA_ABI_WR_BIND_MW = 8,
	UHCA_ABI_WR_SEND_WITH_INV = 9,
	UHCA_ABI_WR_FLUSH = 14,
	UHCA_ABI_WR_ATOMIC_WRITE = 15,
	/*
	 * Ours (uhcadv.h). A list, where they have one, is in the data area, inline_length bytes.
	 */
	UHCA_ABI_WR_REG_MR =
		16, /* fast registration: PAGES when reg.page_shift is set, or BLOCKS */
	UHCA_ABI_WR_REG_INTERLEAVED = 17,
	UHCA_ABI_WR_REG_SG = 18,
	UHCA_ABI_WR_READ_WITH_INV = 19, /* a READ into one element, whose L_Key then goes */
	UHCA_ABI_WR_MASKED_CMP_SWP = 20,
	UHCA_ABI_WR_MASKED_FETCH_ADD = 21,
	UHCA_ABI_WR_COUNT
};

enum {
	UHCA_ABI_SEND_SIGNALED = 1u << 0,
	UHCA_ABI_SEND_SOLICITED = 1u << 1,
	UHCA_ABI_SEND_FENCE = 1u << 2,
	/* The payload is inline_length bytes of the data area; there are no elements to check. */
	UHCA_ABI_SEND_INLINE = 1u << 3,
	/*
	 * The payload has been gathered into the data area, but the elements stand and are checked
	 * as if the device read them (design D14).
	 */
	UHCA_ABI_SEND_GATHERED = 1u << 4,
};

struct uhca_abi_send_wqe {
	uint64_t wr_id;
	uint8_t opcode;
	uint8_t num_sge;
	uint16_t flags;
	uint32_t imm;           /* immediate data (big-endian) or key to invalidate */
	uint32_t inline_length; /* bytes in the data area (INLINE or GATHERED) */
	uint32_t xrc_srqn;      /* XRC: the number of the SRQ at the other end */
	uint64_t reserved1;
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
			uint32_t reserved;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
			uint32_t reserved;
		} atomic;
		struct {
			uint32_t ah; /* handle of the address handle */
			uint32_t remote_qpn;
			uint32_t remote_qkey;
		} ud;
		struct {
			uint64_t addr;
			uint64_t length;
			uint32_t mr_lkey;
			uint32_t mw_rkey;  /* names the window by what stands above its byte */
			uint32_t new_rkey; /* its low byte is the new key's */
			uint32_t access;
		} bind;
		struct {
			uint64_t remote_addr;
			uint64_t length;
			uint32_t rkey;
			uint8_t type;  /* FETH: 1 global visibility, 2 persistence */
			uint8_t level; /* 0 range, 1 the whole region */
			uint16_t reserved;
		} flush;
		struct uhca_abi_layout reg;
		/*
		 * Operands, each size bytes, integers in host order, in the data area: compare,
		 * swap, compare mask, swap mask; or add, boundary mask. The element takes the old
		 * value.
		 */
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
			uint32_t size; /* 4, 8, 16 or 32 */
		} masked;
	};
	/* struct uhca_abi_sge sge[num_sge] follows */
};
static_assert(sizeof(struct uhca_abi_send_wqe) == 64, "one cache line");

struct uhca_abi_recv_wqe {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t reserved;
	/* struct uhca_abi_sge sge[num_sge] follows */
};
static_assert(sizeof(struct uhca_abi_recv_wqe) == 16, "receive entry");

#define UHCA_ABI_SEND_STRIDE(max_sge) (((uint32_t)(max_sge)*16u + 64u + 63u) & ~63u)
#define UHCA_ABI_RECV_STRIDE(max_sge) (((uint32_t)(max_sge)*16u + 16u + 31u) & ~31u)

#endif
