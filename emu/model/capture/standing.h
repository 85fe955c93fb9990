/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How things stand: what a queue pair waits for and what a completion queue has unread, as records
 * "stands" tell it, and calls that failed. In words, for every view.
 */
#ifndef MODEL_STANDING_H
#define MODEL_STANDING_H

#include "model.h"

#define MODEL_STANDING_MAX 480 /* bytes */

/*
 * A record "stands": "in RTS: 1 request is posted and not done; ...". Without a capital and a full
 * stop. Returns buf.
 */
const char *model_standing_text(const struct model_record *r, char *buf, size_t cap);

/* A record "call": "post_send of wr 0x1 is EINVAL: ...". Returns buf. */
const char *model_call_text(const struct model_record *r, char *buf, size_t cap);

#endif
