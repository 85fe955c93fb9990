/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A post as the shadows see it: by whatever call it comes, it is entered, posted and judged alike.
 */
#ifndef UHCAV_POSTING_H
#define UHCAV_POSTING_H

#include "shadow.h"

#include <infiniband/verbs.h>
#include <stddef.h>

struct uhcav_posting {
	struct uhcav_shadow *s;
	const struct uhcav_stack *stack;
	uint32_t entered;
	uint64_t wr_id; /* where a request was refused before it was entered: its own */
};

/* Begins one: others that post to the queue wait until it ends. */
void uhcav_posting_begin(struct uhcav_posting *p, struct uhcav_shadow *s,
			 const struct uhcav_stack *stack);

/*
 * One request more, as far as it is the same for all calls: r has what is known of it (wr_id,
 * index, opcode, flags, remote part), its elements are given.
 */
void uhcav_posting_add(struct uhcav_posting *p, const struct uhcav_request *r,
		       const struct ibv_sge *sge, size_t n_sge);

/* So many of those that were added were posted, and then the call returned err (errno value). */
void uhcav_posting_end(struct uhcav_posting *p, uint32_t posted, int err);

/* A queue pair for datagrams uses this SRQ: are the receives that wait there long enough? */
void uhcav_posting_takes_datagrams(struct uhcav_shadow *srq);

/* Which way the device goes with the elements of a send request. */
enum uhcav_direction uhcav_posting_direction(unsigned opcode);

#endif
