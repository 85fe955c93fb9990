/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys whose memory is that of other regions, their children (seeds 001 and 002; the form of a
 * description is in layout.h). A key is made invalid (core_alloc_key), described by a work request
 * (fast_reg.h) or a control verb, and invalidated again (invalidate.h). A description costs memory
 * in the length of its list, never in the number of repeats; it is walked at each access.
 *
 * A description counts as a use of each child, once per entry that names it: the child can neither
 * be deregistered nor described anew nor invalidated meanwhile. What a description may be is
 * checked when it is made: children of the same protection domain, pieces inside their children,
 * access no wider than the children's, at most UHCA_ABI_MAX_DEPTH descriptions one over the other.
 */
#ifndef CORE_INDIRECT_H
#define CORE_INDIRECT_H

#include "emu/abi/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct client;
struct device;
struct mr;

/* An entry of BLOCKS and SG. */
struct indirect_block {
	uint64_t start; /* offset in the key at which it begins */
	uint64_t addr;  /* in the child's addresses */
	struct mr *child;
};

/* A piece of INTERLEAVED. */
struct indirect_piece {
	uint64_t start; /* offset in the round of all pieces */
	uint64_t bytes;
	uint64_t addr;
	struct mr *child;
	int64_t stride[UHCA_ABI_MAX_DIMS];
};

struct indirect {
	uint32_t max_entries;  /* room for blocks or pages */
	uint8_t shape;         /* UHCA_ABI_SHAPE_*; 0: invalid, the key opens nothing */
	uint8_t depth;         /* 1: all children have memory of their own */
	uint8_t n_dims;        /* INTERLEAVED */
	uint8_t page_shift;    /* PAGES */
	uint32_t first_offset; /* PAGES: byte of the first page at which the key begins */
	uint32_t n;            /* entries of the list */
	uint64_t round;        /* INTERLEAVED: bytes of all pieces, once */
	uint64_t count[UHCA_ABI_MAX_DIMS];
	struct mr *base; /* PAGES: whose addresses the pages are */
	uint64_t *page;  /* room for max_entries */
	struct indirect_block *block;
	struct indirect_piece *piece; /* room for UHCA_ABI_MAX_PIECES */
};

/* An invalid key with room for a list of max_entries. NULL without memory. */
struct indirect *indirect_new(uint32_t max_entries);
void indirect_free(struct indirect *ind);

/* Bytes that it takes; none for NULL. */
uint64_t indirect_bytes(const struct indirect *ind);

/*
 * Describes the key, whose struct is mr: list is a private copy of "bytes" bytes in the form of
 * layout.h. The key byte of layout->key is taken over. 0 or what core_describe_key answers; after a
 * failure the key is as it was. Whether a valid key may be described again is the caller's
 * business.
 */
int indirect_describe(struct mr *mr, uint32_t shape, const struct uhca_abi_layout *layout,
		      const void *list, uint32_t bytes);

/* The key opens nothing any more, its children are free; harmless on an invalid one. */
void indirect_invalidate(struct mr *mr);

/*
 * One step down: the child in which the byte at addr of an indirect memory key stands, at
 * *child_addr, and how many of the next "length" bytes follow it there (at least 1). addr is in
 * range.
 */
struct mr *indirect_step(const struct mr *mr, uint64_t addr, uint64_t length, uint64_t *child_addr,
			 uint64_t *part);

/*
 * All the way down: the region with memory of its own (or the null region) behind *addr, the
 * address in it, and in *length how many of the bytes asked for follow there. For any region; one
 * that is not described is its own leaf.
 */
struct mr *indirect_leaf(struct mr *mr, uint64_t *addr, uint64_t *length);

/*
 * May an atomic of so many bytes at addr be executed? Through a description only where the bytes
 * stand together, at a multiple of their number, in the memory below.
 */
bool indirect_is_atomic(struct mr *mr, uint64_t addr, uint32_t bytes);

/*
 * The next part of the end of a client (core_client_leave): its descriptions are invalidated, so
 * that nothing names its regions. True when all are.
 */
bool keys_close(struct client *c, uint32_t *steps);

/* Invalidates every description that names the region as a child: it goes whatever its uses. */
void indirect_orphan(struct mr *child);

/* "pages", "blocks", "interleaved", "sg"; "invalid" for shape 0. */
const char *indirect_shape_name(uint8_t shape);

#endif
