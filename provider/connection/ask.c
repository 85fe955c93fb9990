/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that ask the daemon for the peer of a queue pair. See ask.h. */
#include "ask.h"

static bool call(const struct uhcav_asker *who, struct uhca_cmd_query_peer *in,
		 struct uhca_cmd_query_peer_reply *out)
{
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_QUERY_PEER, in, out, .tried = true);

	in->handle = who->handle;
	return !uhcav_context_call(who->ctx, &call);
}

bool uhcav_ask(const struct uhcav_asker *who, uint32_t status,
	       struct uhca_cmd_query_peer_reply *out)
{
	return call(who, &(struct uhca_cmd_query_peer){.status = status}, out);
}

bool uhcav_ask_datagram(const struct uhcav_asker *who, uint32_t ah, uint32_t qpn,
			struct uhca_cmd_query_peer_reply *out)
{
	return call(who, &(struct uhca_cmd_query_peer){.ah = ah, .qpn = qpn}, out);
}
