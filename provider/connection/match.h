/* SPDX-License-Identifier: BSD-2-Clause */
/* Do both ends of a connection fit? */
#ifndef UHCAV_MATCH_H
#define UHCAV_MATCH_H

#include "ask.h"
#include "provider/diagnostic/diagnostic.h"

#include <stdbool.h>

/* Does the peer, which the daemon knows, name another queue pair as its own peer? */
bool uhcav_match_is_crossed(const struct uhca_cmd_query_peer_reply *r);

/*
 * Tells of conn-mismatch, if they do not fit. "at" is where this end was connected, or else what
 * has come of it. False: they do.
 */
bool uhcav_match_tell(const struct uhca_cmd_query_peer_reply *r, const struct uhcav_stack *at,
		      const char *title);

#endif
