/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages about memory: regions, windows, the null region, advice, device memory. See
 * cmd_header.h for the protocol.
 */
#ifndef UHCA_ABI_CMD_MEMORY_H
#define UHCA_ABI_CMD_MEMORY_H

#include "cmd_header.h"
#include "layout.h"
#include "names.h"

struct uhca_cmd_reg_mr {
	struct uhca_cmd_request h;
	uint64_t addr;
	uint64_t length;
	uint64_t iova;
	uint32_t pd;
	uint32_t access;
	uint32_t borrowed; /* enum uhca_abi_borrowed: why not all of it is pinned, for people */
	uint32_t hint;     /* UHCA_ABI_HINT_*, for people; 0: none */
};
static_assert(sizeof(struct uhca_cmd_reg_mr) == 56, "reg_mr");

/* The DMA handle of a region (ibv_alloc_dmah(3)), and which of its fields were given. */
#define UHCA_ABI_HINT_CPU_MASK   0xffffu
#define UHCA_ABI_HINT_PH_SHIFT   16 /* two bits */
#define UHCA_ABI_HINT_CPU        (1u << 20)
#define UHCA_ABI_HINT_PH         (1u << 21)
#define UHCA_ABI_HINT_VOLATILE   (1u << 22)
#define UHCA_ABI_HINT_PERSISTENT (1u << 23)
#define UHCA_ABI_HINT            (1u << 31) /* there is one */

struct uhca_cmd_reg_mr_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t lkey;
	uint32_t rkey;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_reg_mr_reply) == 32, "reg_mr reply");

/* ALLOC_MW; type is enum ibv_mw_type (1 or 2). A window is bound by a work request (wqe.h). */
struct uhca_cmd_alloc_mw {
	struct uhca_cmd_request h;
	uint32_t pd;
	uint32_t type;
};
static_assert(sizeof(struct uhca_cmd_alloc_mw) == 24, "alloc_mw");

struct uhca_cmd_alloc_mw_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t rkey; /* type 1: valid for nothing until bound; type 2: invalid */
};
static_assert(sizeof(struct uhca_cmd_alloc_mw_reply) == 24, "alloc_mw reply");

/* REREG_MR; flags is enum ibv_rereg_mr_flags. The reply is reg_mr's: new keys, same handle. */
struct uhca_cmd_rereg_mr {
	struct uhca_cmd_request h;
	uint64_t addr;
	uint64_t length;
	uint64_t iova;
	uint32_t handle;
	uint32_t flags;
	uint32_t pd;
	uint32_t access;
};
static_assert(sizeof(struct uhca_cmd_rereg_mr) == 56, "rereg_mr");

/* ALLOC_NULL_MR: struct uhca_cmd_handle with the PD; the reply is reg_mr's. */

/* ADVISE_MR; advice is enum ibv_advise_mr_advice, flags enum ibv_advise_mr_flags. */
#define UHCA_ABI_ADVISE_SGES 64u
struct uhca_cmd_advise_mr {
	struct uhca_cmd_request h;
	uint32_t pd;
	uint32_t advice;
	uint32_t flags;
	uint32_t num_sge; /* at most UHCA_ABI_ADVISE_SGES; a longer list goes in several messages */
	struct {
		uint64_t addr;
		uint32_t length;
		uint32_t lkey;
	} sge[UHCA_ABI_ADVISE_SGES];
};
static_assert(sizeof(struct uhca_cmd_advise_mr) == 1056, "advise_mr");

struct uhca_cmd_alloc_dm {
	struct uhca_cmd_request h;
	uint64_t length;
	uint32_t log_align;
	uint32_t flags; /* UHCA_ABI_DM_SHARED */
};
static_assert(sizeof(struct uhca_cmd_alloc_dm) == 32, "alloc_dm");

/*
 * Ordinary memory of the program, shared with the device so that it need not be fetched (uhcadv.h,
 * uhcadv_alloc_shared): limited by max_shared_size instead of max_dm_size.
 */
#define UHCA_ABI_DM_SHARED 1u

/* Carries one descriptor: the device memory, which the client maps for ibv_memcpy_*_dm. */
struct uhca_cmd_alloc_dm_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t reserved;
	uint64_t region_size;
};
static_assert(sizeof(struct uhca_cmd_alloc_dm_reply) == 32, "alloc_dm reply");

/* REG_DM_MR; the reply is reg_mr's. access must have ZERO_BASED (ibv_reg_dm_mr(3)). */
struct uhca_cmd_reg_dm_mr {
	struct uhca_cmd_request h;
	uint64_t offset;
	uint64_t length;
	uint32_t pd;
	uint32_t dm;
	uint32_t access;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_reg_dm_mr) == 48, "reg_dm_mr");

/*
 * REG_SHARED_MR: a region in device memory that the client uses at ordinary addresses, because it
 * was made as shared memory (ALLOC_DM with UHCA_ABI_DM_SHARED): iova is where the client has byte
 * "offset" of it mapped. All access flags but ON_DEMAND. The reply is reg_mr's.
 */
struct uhca_cmd_reg_shared_mr {
	struct uhca_cmd_request h;
	uint64_t offset;
	uint64_t length;
	uint64_t iova;
	uint32_t pd;
	uint32_t dm;
	uint32_t access;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_reg_shared_mr) == 56, "reg_shared_mr");

/*
 * ATTACH_ARENA, once for a context: carries one descriptor, a memory file of the process that
 * cannot shrink. Memory that the process registers may stand in it, mapped in place of the pages
 * that were there ("pinned"); the device uses it there. EOPNOTSUPP where nothing is to be pinned.
 * Reply: header.
 */
struct uhca_cmd_attach_arena {
	struct uhca_cmd_request h;
	uint64_t size; /* bytes of the file, at most UHCA_ABI_MAX_ARENA */
};
static_assert(sizeof(struct uhca_cmd_attach_arena) == 24, "attach_arena");

#define UHCA_ABI_MAX_ARENA (1ull << 40)

/* Which memory the client is to put into its arena. */
enum uhca_abi_pin {
	UHCA_ABI_PIN_OFF,
	UHCA_ABI_PIN_SAFE, /* where nobody can notice that pages are replaced */
	UHCA_ABI_PIN_ALL,  /* also where a system call of another thread may fail meanwhile */
};

/* clang-format off */
enum uhca_abi_borrowed {
#define X(name, text) UHCA_ABI_BORROWED_##name,
	UHCA_ABI_BORROWED_NAMES(X)
#undef X
	UHCA_ABI_BORROWED_COUNT
};
/* clang-format on */

/* A part of the client's memory, and where in the arena it is. */
struct uhca_abi_extent {
	uint64_t addr;
	uint64_t length;
	uint64_t offset;
};

/*
 * REG_PINNED_MR: REG_MR of a region of which the extents stand in the arena; they ascend and do
 * not overlap. What lies between them is borrowed, as all of an ordinary region. The reply is
 * reg_mr's.
 */
#define UHCA_ABI_EXTENTS 32u
struct uhca_cmd_reg_pinned_mr {
	struct uhca_cmd_reg_mr mr;
	uint32_t n_extents; /* 1..UHCA_ABI_EXTENTS */
	uint32_t reserved;
	struct uhca_abi_extent extent[UHCA_ABI_EXTENTS];
};
static_assert(sizeof(struct uhca_cmd_reg_pinned_mr) == 832, "reg_pinned_mr");

/*
 * ALLOC_KEY: a key without memory, invalid until it is described (layout.h). The reply is
 * reg_mr's; DEREG_MR frees it. max_entries: the longest list, 1..max_list_entries of the device.
 */
struct uhca_cmd_alloc_key {
	struct uhca_cmd_request h;
	uint32_t pd;
	uint32_t max_entries;
};
static_assert(sizeof(struct uhca_cmd_alloc_key) == 24, "alloc_key");

/* DESCRIBE_KEY: what REG_INTERLEAVED and REG_SG do, at once, by the same rules. Reply: header. */
struct uhca_cmd_describe_key {
	struct uhca_cmd_request h;
	uint32_t shape; /* UHCA_ABI_SHAPE_INTERLEAVED or SG */
	uint32_t bytes; /* of the list; what follows it is ignored */
	struct uhca_abi_layout layout;
	uint64_t list[UHCA_ABI_LAYOUT_BYTES / 8];
};
static_assert(sizeof(struct uhca_cmd_describe_key) == 12344, "describe_key");

#endif
