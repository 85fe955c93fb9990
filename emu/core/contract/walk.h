/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The translation of a memory region for people. Part of what core.h offers to the shell.
 */
#ifndef CORE_WALK_H
#define CORE_WALK_H

#include "emu/abi/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct device;

#define CORE_WALK_SHOWN 7

/* Some entry of a description's list. */
struct core_walk_entry {
	uint64_t index, addr, bytes; /* addr: in the child */
	uint32_t key;                /* the child's */
};

/* From a byte of an indirect memory key (indirect.h) to the child in which it stands. */
struct core_walk_step {
	uint32_t key;
	uint32_t access;
	uint8_t shape;    /* UHCA_ABI_SHAPE_* */
	const char *name; /* of the shape: static text */
	unsigned depth;   /* descriptions from here to memory */
	uint64_t iova, length;
	uint64_t offset;                   /* of the byte, in the key */
	uint64_t n;                        /* entries of the list */
	uint64_t entry;                    /* the one in which the byte stands ... */
	uint64_t in_entry;                 /* ... and where in it */
	uint32_t page_shift, first_offset; /* PAGES: position = first_offset + offset */
	/* INTERLEAVED: bytes of all pieces; which repeat of them; strides are those of the entry */
	uint64_t round, repeat;
	unsigned n_dims;
	uint64_t count[UHCA_ABI_MAX_DIMS], index[UHCA_ABI_MAX_DIMS];
	int64_t stride[UHCA_ABI_MAX_DIMS];
	uint32_t child_key;
	uint64_t child_addr;
	uint64_t part; /* bytes from this one on that are contiguous there */
	unsigned n_shown;
	struct core_walk_entry shown[CORE_WALK_SHOWN];
};

/* The way from a key and an offset into its region to a byte of the client's memory. */
struct core_walk {
	void *client;
	uint32_t index; /* key >> 8: slot and generation in the table of regions */
	uint32_t key_byte;
	uint32_t pd; /* handle */
	/* A window's key was asked for: what part it opens of the key it is bound to. */
	bool window;
	uint32_t window_of;
	uint64_t window_offset, window_length;
	uint32_t access; /* of the key that was asked for */
	bool invalid;    /* a key without description: whatever "access" says, it opens nothing */
	/* Indirect keys, each a child of the one before; none for a region with memory. */
	unsigned n_steps;
	struct core_walk_step step[UHCA_ABI_MAX_DEPTH];
	/* The region at the end of the way, and the byte's offset in it. */
	uint32_t region_key;
	uint64_t region_offset;
	const char *kind; /* of the region's memory: static text */
	uint64_t iova, length;
	uint32_t page_shift;
	uint64_t first_offset; /* byte of page 0 at which the region begins */
	uint64_t n_pages;      /* 0: a region without pages; what follows is then zero */
	uint32_t leaf_entries; /* two levels: entries of a leaf; one level: 0 */
	/* first_offset + offset, and what it is made of: entry and byte in its page */
	uint64_t position, entry, in_page;
	bool has_byte; /* there is a byte in the memory of a client, at this address of it */
	uint64_t byte;
	/* Some entries, in their order: the first ones, those around "entry", the last. */
	unsigned n_shown;
	struct {
		uint64_t index, page;
	} shown[CORE_WALK_SHOWN];
};

/*
 * 0, -ENOENT (no such key), -EINVAL (a window that is bound to nothing) or -ERANGE (region or
 * window are not so long). What is said of access is the window's where the key is one's.
 */
int core_walk_mr(struct device *dev, uint32_t key, uint64_t offset, struct core_walk *out);

#endif
