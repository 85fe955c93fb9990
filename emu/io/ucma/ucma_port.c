/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports of the port spaces (RDMA_PS_*), one set for all devices of the daemon: who holds which,
 * what conflicts, and who listens. The rules are those of the kernel's rdma_cm.
 */
#include "ucma_file.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

/* The usual range of ports that are chosen (ip_local_port_range). */
#define FIRST_PORT 32768u
#define N_PORTS    (61000u - FIRST_PORT)

static struct ucma_port_list *list_of(struct io_ucma *u, uint16_t ps, uint16_t port)
{
	return &u->ports[(port ^ (unsigned)ps << 3) % UCMA_PORT_BUCKETS];
}

static bool same_port(const struct ucma_id *a, uint16_t ps, uint16_t port)
{
	return a->ps == ps && a->src.port == port;
}

/* Takes requests at every address: any, or localhost that no device has (ucma_resolve.c). */
static bool is_everywhere(const struct ucma_id *id)
{
	return ucma_addr_is_any(&id->src) || (!id->dev && ucma_addr_is_localhost(&id->src));
}

/* May both hold the port? The kernel tells all addresses from one. */
static int conflict(const struct ucma_id *a, const struct ucma_id *b, bool reuse)
{
	if (reuse && a->reuse_address && b->reuse_address)
		return 0;
	if (a->family_only && b->family_only && a->src.family != b->src.family)
		return 0;
	if (is_everywhere(a) || is_everywhere(b))
		return -EADDRNOTAVAIL;
	return memcmp(a->src.gid, b->src.gid, 16) == 0 ? -EADDRINUSE : 0;
}

static int conflict_with_any(const struct ucma_id *id, uint16_t port, bool reuse)
{
	struct ucma_id *other;
	int error = 0;

	LIST_FOREACH(other, list_of(id->file->ucma, id->ps, port), of_port)
	{
		if (error == 0 && other != id && same_port(other, id->ps, port))
			error = conflict(other, id, reuse);
	}
	return error;
}

/* A port nobody has at all, searched from anywhere. */
static uint16_t choose(const struct ucma_id *id)
{
	uint32_t start;

	if (getrandom(&start, sizeof(start), 0) < 0)
		start = 0;
	for (uint32_t i = 0; i < N_PORTS; i++) {
		uint16_t port = (uint16_t)(FIRST_PORT + (start + i) % N_PORTS);
		struct ucma_id *other;
		bool taken = false;

		LIST_FOREACH(other, list_of(id->file->ucma, id->ps, port), of_port)
		{
			taken = taken || same_port(other, id->ps, port);
		}
		if (!taken)
			return port;
	}
	return 0;
}

int ucma_port_bind(struct ucma_id *id)
{
	uint16_t port = id->src.port ? id->src.port : choose(id);
	int error;

	if (!id->family_told) /* as ipv6(7) has it, where bindv6only is 0 */
		id->family_only = id->src.family == AF_INET;
	error = port ? conflict_with_any(id, port, true) : -EADDRNOTAVAIL;
	if (error < 0)
		return error;
	id->src.port = port;
	if (id->src.family == AF_IB)
		id->src.sid |= port;
	LIST_INSERT_HEAD(list_of(id->file->ucma, id->ps, port), id, of_port);
	id->holds_port = true;
	return 0;
}

int ucma_port_listen(struct ucma_id *id)
{
	int error = id->reuse_address ? conflict_with_any(id, id->src.port, false) : 0;

	if (error == 0)
		id->reuse_address = false;
	return error;
}

void ucma_port_release(struct ucma_id *id)
{
	if (id->holds_port)
		LIST_REMOVE(id, of_port);
	id->holds_port = false;
}

static bool listens_at(const struct ucma_id *id, const uint8_t gid[16], const struct io_device *dev)
{
	struct ucma_addr to = {0};

	memcpy(to.gid, gid, 16);
	if (id->state != UCMA_LISTENING || (id->dev && id->dev != dev))
		return false;
	if (id->dev)
		return memcmp(id->local_gid, gid, 16) == 0;
	if (id->src.family == AF_INET6 && id->family_only)
		return !ucma_addr_is_v4(&to);
	return id->src.family != AF_INET || ucma_addr_is_v4(&to);
}

struct ucma_id *ucma_port_find_listener(struct io_ucma *u, uint64_t service_id,
					const uint8_t gid[16], const struct io_device *dev)
{
	uint16_t ps = (uint16_t)(service_id >> 16);
	uint16_t port = (uint16_t)service_id;
	struct ucma_id *best = NULL;
	struct ucma_id *id;

	LIST_FOREACH(id, list_of(u, ps, port), of_port)
	{
		if (ucma_service_id(id, &id->src) != service_id || !listens_at(id, gid, dev))
			continue;
		if (!best || is_everywhere(best))
			best = id;
	}
	return best;
}
