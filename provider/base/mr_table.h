/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which memory a key stands for, as post_send needs to know it when it gathers a payload early:
 * a hash table from L_Key to range, read without a lock. The device checks the key again; this
 * table only keeps us from touching memory that is not registered.
 *
 * Writers (reg_mr, dereg_mr) are serialised by a mutex. A reader sees a region either whole or
 * not at all: the key of a slot is stored last and cleared first. A table that has grown keeps
 * its predecessors until it is destructed, because a reader may still look at them.
 */
#ifndef UHCAV_MR_TABLE_H
#define UHCAV_MR_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* On demand: the pages may be missing, so that nobody but the advice may touch them. */
#define UHCAV_REGION_ON_DEMAND 1u

struct uhcav_region {
	uint32_t lkey;  /* 0: never used, 1: used and free again; neither is a key */
	uint32_t flags; /* UHCAV_REGION_* */
	uint64_t iova;
	uint64_t length;
	uint64_t addr;
	/* Addresses in between are mapped by the device, which takes them when it needs them. */
	uint64_t pinned, pinned_end;
};

struct uhcav_mr_slots {
	struct uhcav_mr_slots *older;
	uint32_t mask;
	struct uhcav_region slot[];
};

struct uhcav_mr_table {
	struct uhcav_mr_slots *slots;
	pthread_mutex_t lock;
	uint32_t used; /* slots that are not "never used" */
	uint32_t live;
};

void uhcav_mr_table_construct(struct uhcav_mr_table *t);
void uhcav_mr_table_destruct(struct uhcav_mr_table *t);

/* Makes room for one more region, so that the next add cannot fail. 0 or -ENOMEM. */
int uhcav_mr_table_reserve(struct uhcav_mr_table *t);

/* Enters a region under a key that the table does not hold. Needs a reserve before it. */
void uhcav_mr_table_add(struct uhcav_mr_table *t, const struct uhcav_region *r);

/* Takes a region out; a key that is not there is ignored. */
void uhcav_mr_table_remove(struct uhcav_mr_table *t, uint32_t lkey);

/*
 * Where the length bytes at "iova" of region lkey are in our memory; NULL when the table knows no
 * such key, the range is not inside the region, or it is for the device to read: of an on-demand
 * region, or pinned. Any thread, no lock.
 */
const void *uhcav_mr_table_find(const struct uhcav_mr_table *t, uint32_t lkey, uint64_t iova,
				uint64_t length);

/* The same, and on-demand regions, too, whose memory may be missing: for uhcav_mem_probe only. */
const void *uhcav_mr_table_locate(const struct uhcav_mr_table *t, uint32_t lkey, uint64_t iova,
				  uint64_t length);

/* Has a region any of [addr, addr + length)? */
bool uhcav_mr_table_overlaps(struct uhcav_mr_table *t, uint64_t addr, uint64_t length);

#endif
