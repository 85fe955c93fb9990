/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rdma_cm ids of a daemon, for who looks at it; see ucma.h.
 */
#include "ucma_file.h"

#include <stdio.h>

static const char *const state_name[] = {
	[UCMA_IDLE] = "idle",
	[UCMA_BOUND] = "bound",
	[UCMA_ADDR_RESOLVED] = "addr_resolved",
	[UCMA_ROUTE_RESOLVED] = "route_resolved",
	[UCMA_LISTENING] = "listening",
	[UCMA_CONNECTING] = "connected", /* or on its way there */
};

static const char *space_name(uint16_t ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return "tcp";
	case RDMA_PS_UDP:
		return "udp";
	case RDMA_PS_IPOIB:
		return "ipoib";
	case RDMA_PS_IB:
		return "ib";
	default:
		return "unknown";
	}
}

/* IPv6 in brackets, as it always is in front of a port. */
static void format(const struct ucma_addr *a, char out[IO_UCMA_TEXT])
{
	char text[IO_ADDRESS_TEXT];

	if (a->family == 0)
		snprintf(out, IO_UCMA_TEXT, "none");
	else if (a->family == AF_IB)
		snprintf(out, IO_UCMA_TEXT, "[%s]:sid=0x%016llx", io_address_format(a->gid, text),
			 (unsigned long long)a->sid);
	else
		snprintf(out, IO_UCMA_TEXT, ucma_addr_is_v4(a) ? "%s:%u" : "[%s]:%u",
			 io_address_format(a->gid, text), a->port);
}

void io_ucma_visit(const struct io_ucma *u, io_ucma_visitor visit, void *arg)
{
	const struct ucma_file *f;
	const struct ucma_id *id;

	TAILQ_FOREACH(f, &u->files, link)
	{
		LIST_FOREACH(id, &f->ids, of_file)
		{
			struct io_ucma_view v = {
				.id = id->slot,
				.device = id->dev ? id->dev->id.name : NULL,
				.space = space_name(id->ps),
				.state = state_name[id->state],
				.port = id->src.family == AF_IB ? 0 : id->src.port,
			};

			format(&id->src, v.src);
			format(&id->dst, v.dst);
			visit(arg, &v);
		}
	}
}
