/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the memory behind an indirect key (UHCA_CMD_ALLOC_KEY) is described. A description says what
 * bytes of other regions, its children, the key's own addresses stand for. It travels in the data
 * area of a send slot (wqe.h: REG_MR, REG_INTERLEAVED, REG_SG) or in a control message
 * (cmd_memory.h: DESCRIBE_KEY), in the same form:
 *
 *   PAGES        uint64_t page[n]: addresses in one region, the "base", each a multiple of the
 *                page size. The region begins at byte iova % page size of the first page.
 *   BLOCKS, SG   struct uhca_abi_block block[n]: pieces of any size and alignment, one after
 *                another.
 *   INTERLEAVED  uint64_t count[n_dims], outermost first, then struct uhca_abi_piece piece[n].
 *                For each combination of the dimensions' indices, the last running fastest, each
 *                piece in its order gives "bytes" bytes from addr + the sum of index * stride.
 *
 * PAGES and BLOCKS are fast registrations: legal on an invalid key only. SG and INTERLEAVED may
 * also replace a description.
 */
#ifndef UHCA_ABI_LAYOUT_H
#define UHCA_ABI_LAYOUT_H

#include <assert.h>
#include <stdint.h>

enum {
	UHCA_ABI_SHAPE_PAGES = 1,
	UHCA_ABI_SHAPE_BLOCKS = 2,
	UHCA_ABI_SHAPE_INTERLEAVED = 3,
	UHCA_ABI_SHAPE_SG = 4,
};

#define UHCA_ABI_MAX_ENTRIES    512u /* pages or blocks of one description */
#define UHCA_ABI_MAX_PIECES     16u
#define UHCA_ABI_MAX_DIMS       8u
#define UHCA_ABI_MAX_DEPTH      4u /* descriptions over descriptions */
#define UHCA_ABI_MIN_PAGE_SHIFT 12u
#define UHCA_ABI_MAX_PAGE_SHIFT 30u

struct uhca_abi_block {
	uint64_t addr; /* in the child's addresses */
	uint64_t length;
	uint32_t lkey;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_abi_block) == 24, "block");

struct uhca_abi_piece {
	uint64_t addr;
	uint64_t bytes;
	uint32_t lkey;
	uint32_t reserved;
	int64_t stride[UHCA_ABI_MAX_DIMS]; /* bytes; those beyond n_dims are zero */
};
static_assert(sizeof(struct uhca_abi_piece) == 88, "piece");

/* What a description says beside its list. */
struct uhca_abi_layout {
	uint64_t iova;   /* first address of the key; 0: zero based */
	uint64_t length; /* bytes of PAGES; 0 of the others, which have the length of their list */
	uint32_t key;    /* index of the key, and its new key byte */
	uint32_t access; /* enum ibv_access_flags */
	uint32_t lkey;   /* PAGES: the base; else 0 */
	uint16_t n;      /* entries of the list */
	uint8_t page_shift; /* PAGES; else 0 */
	uint8_t n_dims;     /* INTERLEAVED; else 0 */
};
static_assert(sizeof(struct uhca_abi_layout) == 32, "layout");

/* Bytes of the largest list. */
#define UHCA_ABI_LAYOUT_BYTES (UHCA_ABI_MAX_ENTRIES * sizeof(struct uhca_abi_block))

#endif
