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

/* One was not, because the queue is full. */
void uhcav_capacity_refused(struct uhcav_shadow *s, const struct uhcav_stack *stack);

/* A completion of the queue with an error was polled. The shadow is there: under its CQ's lock. */
void uhcav_capacity_failed(struct uhcav_shadow *s, struct uhcav_here here,
			   enum ibv_wc_status status);

#endif
