/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon is asked who is at the other end (emu/abi/cmd_peer.h). A call takes some microseconds.
 */
#ifndef UHCAV_ASK_H
#define UHCAV_ASK_H

#include "provider/context/context.h"

/* A queue pair, by what it is known to the daemon: it may be destroyed meanwhile. */
struct uhcav_asker {
	struct uhcav_context *ctx;
	uint32_t handle;
};

/* Of a connected one; status: of the completion that is to be explained, or 0. Any thread. */
bool uhcav_ask(const struct uhcav_asker *who, uint32_t status,
	       struct uhca_cmd_query_peer_reply *out);

/* Of where a datagram goes. */
bool uhcav_ask_datagram(const struct uhcav_asker *who, uint32_t ah, uint32_t qpn,
			struct uhca_cmd_query_peer_reply *out);

#endif
