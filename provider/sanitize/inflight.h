/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of memory that outstanding requests name: what it holds, and what else names it. */
#ifndef UHCAV_INFLIGHT_H
#define UHCAV_INFLIGHT_H

#include "shadow.h"

/* A request that is about to be posted. */
void uhcav_inflight_begin(struct uhcav_shadow *s, struct uhcav_request *r);

/*
 * One that has completed well, and whose completion, or a later one's, "here" has polled. Of a
 * receive so many bytes came into its pieces.
 */
void uhcav_inflight_end(struct uhcav_here here, const struct uhcav_shadow *s,
			const struct uhcav_request *r, uint64_t came);

/* One that is done, or was refused; "here" has polled it: is memory of its pieces unmapped? */
void uhcav_inflight_unmapped(struct uhcav_here here, const struct uhcav_shadow *s,
			     const struct uhcav_request *r);

/* The remote part of a request that was done, or refused: is its memory in this process, and gone?
 */
void uhcav_inflight_target(const struct uhcav_shadow *s, const struct uhcav_request *r);

#endif
