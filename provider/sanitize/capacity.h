/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of queues: how many requests and completions they can have, and what posts come too late.
 */
#ifndef UHCAV_CAPACITY_H
#define UHCAV_CAPACITY_H

#include "shadow.h"

/* So many requests more were posted. */
void uhcav_capacity_posted(struct uhcav_shadow *s, const struct uhcav_stack *stack,
			   uint32_t posted);

/* One was not, because the queue is full: what it is known by, and where it was posted. */
void uhcav_capacity_refused(struct uhcav_shadow *s, const struct uhcav_refusal *one);

/* One is about to be posted: is it the one that was refused? */
void uhcav_capacity_again(struct uhcav_shadow *s, const struct uhcav_request *r);

/* The queue is about to go, or the process: what was refused will not be posted any more. */
void uhcav_capacity_over(struct uhcav_shadow *s);

/* A completion of the queue with an error was polled. The shadow is there: under its CQ's lock. */
void uhcav_capacity_failed(struct uhcav_shadow *s, struct uhcav_here here,
			   enum ibv_wc_status status);

#endif
