/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Indirect keys of a random workload: what bytes each address of a key stands for, worked out
 * from the pieces that were drawn, without the device. Internal to workload*.c.
 */
#ifndef SIM_WORKLOAD_KEY_H
#define SIM_WORKLOAD_KEY_H

#include "model.h"

#define WORKLOAD_KEY_RUNS 8

struct workload;
struct workload_end;

struct workload_key {
	struct vmr mr;
	bool valid;
	uint32_t shape; /* UHCA_ABI_SHAPE_* */
	uint64_t iova, length;
	/* One round of the layout in the order of the key's addresses, and its repeats. */
	struct {
		uint64_t addr, bytes;
	} run[WORKLOAD_KEY_RUNS];
	unsigned n;
	uint64_t round, count, stride;
};

/* Memory that a key is to describe, and by what right. */
struct workload_ground {
	uint64_t addr, length;
	uint32_t lkey, access;
};

/* A key without memory in the client's domain. */
void workload_key_alloc(struct workload *l, struct vclient *c, struct workload_key *k);

/*
 * Draws a layout of the shape over the ground, in any order, and describes it at once: SG or
 * INTERLEAVED. The same bytes are never named twice.
 */
void workload_key_describe(struct workload *l, struct vclient *c, struct workload_key *k,
			   const struct workload_ground *g);

/*
 * Draws a layout of at least "length" bytes over fresh memory and posts what makes the end's key
 * describe it: a fenced invalidation when it is valid, then the registration. False, nothing
 * posted, when there is no room for it.
 */
bool workload_key_renew(struct workload *l, struct workload_end *e, uint32_t length);

/* Where [offset, offset + length) of the key is. */
void workload_key_place(const struct workload_key *k, uint64_t offset, uint32_t length,
			struct model_place *at);

#endif
