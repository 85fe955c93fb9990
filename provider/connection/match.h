/* SPDX-License-Identifier: BSD-2-Clause */
/* Do both ends of a connection fit? */
#ifndef UHCAV_MATCH_H
#define UHCAV_MATCH_H

#include "ask.h"
#include "provider/diagnostic/diagnostic.h"

#include <stdbool.h>

/*
 * Reports conn-mismatch if they do not fit. "at" is where this end was connected, or the post that
 * failed. False: they fit.
 */
bool uhcav_match_report(const struct uhca_cmd_query_peer_reply *r, const struct uhcav_stack *at,
			const char *title);

#endif
