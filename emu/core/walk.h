/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The translation of a memory region for people. Part of what core.h offers to the shell.
 */
#ifndef CORE_WALK_H
#define CORE_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct device;

#define CORE_WALK_SHOWN 7

/* The way from a key and an offset into its region to a byte of the client's memory. */
struct core_walk {
	void *client;
	uint32_t index; /* key >> 8: slot and generation in the table of regions */
	uint32_t key_byte;
	uint32_t pd; /* handle */
	/* A window's key was asked for: the region's key, and what part of it the window opens. */
	bool window;
	uint32_t region_key;
	uint64_t window_offset, window_length;
	const char *kind; /* of the region's memory: static text */
	uint32_t access;
	uint64_t iova, length;
	uint32_t page_shift;
	uint32_t first_offset; /* byte of page 0 at which the region begins */
	uint64_t n_pages;      /* 0: a region without pages; what follows is then zero */
	uint32_t leaf_entries; /* two levels: entries of a leaf; one level: 0 */
	/* first_offset + offset, and what it is made of: entry and byte in its page */
	uint64_t position, entry, in_page;
	uint64_t byte; /* address in the client */
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
