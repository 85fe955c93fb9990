/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports of the port spaces (RDMA_PS_*), one set for all devices of the daemon: who holds which,
 * what conflicts, and who listens. The rules are those of the kernel's rdma_cm, with one more: of
 * the ports that are chosen, a process may have as many as it leaves to the others.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

/* ---- which are taken ---- */

static const uint16_t spaces[UCMA_SPACES] = {RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB};

static unsigned space_of(uint16_t ps)
{
	unsigned i = UCMA_SPACES - 1;

	while (i > 0 && spaces[i] != ps)
		i--;
	return i;
}

static bool is_in_range(uint16_t port)
{
	return port - UCMA_FIRST_PORT < UCMA_PORTS;
}

static struct ucma_port_list *bucket_of(struct io_ucma *u, uint16_t ps, uint16_t port)
{
	return &u->ports[(port ^ space_of(ps) << 10) % UCMA_PORT_BUCKETS];
}

/* Each bucket has 64 at the most: there are no more ports. */
static struct ucma_port *port_find(struct io_ucma *u, uint16_t ps, uint16_t port)
{
	struct ucma_port *p;

	LIST_FOREACH(p, bucket_of(u, ps, port), link)
	{
		if (p->ps == ps && p->port == port)
			return p;
	}
	return NULL;
}

static void mark(struct io_ucma *u, const struct ucma_port *p, bool taken)
{
	struct ucma_range *r = &u->range[space_of(p->ps)];
	uint32_t i = p->port - UCMA_FIRST_PORT;

	if (!is_in_range(p->port))
		return;
	r->taken[i / 64] ^= 1ull << i % 64;
	r->n += taken ? 1 : -1u;
}

/* The process's share of the range. */
static bool may_have(const struct ucma_id *id, uint16_t port)
{
	unsigned space = space_of(id->port_ps);

	return !is_in_range(port) ||
	       ucma_is_fair(id->owner->ports[space], id->owner->ucma->range[space].n, UCMA_PORTS);
}

static struct ucma_port *make(const struct ucma_id *id, uint16_t port)
{
	struct io_ucma *u = id->owner->ucma;
	struct ucma_port *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->ps = id->port_ps;
	p->port = port;
	LIST_INIT(&p->ids);
	LIST_INSERT_HEAD(bucket_of(u, p->ps, port), p, link);
	mark(u, p, true);
	return p;
}

static void hold_port(struct ucma_id *id, struct ucma_port *p)
{
	LIST_INSERT_HEAD(&p->ids, id, of_port);
	p->n++;
	id->held = p;
	id->owner->ports[space_of(p->ps)] += is_in_range(p->port);
}

void ucma_port_release(struct ucma_id *id)
{
	struct ucma_port *p = id->held;

	if (!p)
		return;
	LIST_REMOVE(id, of_port);
	id->held = NULL;
	id->owner->ports[space_of(p->ps)] -= is_in_range(p->port);
	if (--p->n)
		return;
	mark(id->owner->ucma, p, false);
	LIST_REMOVE(p, link);
	free(p);
}

/* Of the ports in word w, from bit "from" on, the first that nobody has; 0: there is none. */
static uint16_t free_in(const struct ucma_range *r, unsigned w, unsigned from)
{
	uint64_t left = ~r->taken[w] & ~0ull << from;
	uint32_t i = left ? w * 64 + (unsigned)__builtin_ctzll(left) : UCMA_PORTS;

	return i < UCMA_PORTS ? (uint16_t)(UCMA_FIRST_PORT + i) : 0;
}

/* A port nobody has at all, searched from anywhere, 64 at once. */
static uint16_t choose(const struct ucma_id *id)
{
	const struct ucma_range *r = &id->owner->ucma->range[space_of(id->port_ps)];
	uint16_t port = 0;
	uint32_t start;

	if (getrandom(&start, sizeof(start), 0) < 0)
		start = 0;
	start %= UCMA_PORTS;
	for (unsigned i = 0; !port && i <= UCMA_PORT_WORDS; i++)
		port = free_in(r, (start / 64 + i) % UCMA_PORT_WORDS, i ? 0 : start % 64);
	return port;
}

/* ---- who may have one ---- */

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

/* Ids of a file that was closed are as good as gone. */
static void end_closed(struct io_ucma *u, uint16_t ps, uint16_t port)
{
	struct ucma_port *p = port_find(u, ps, port);
	struct ucma_id *id = p ? LIST_FIRST(&p->ids) : NULL, *next;

	for (; id; id = next) {
		next = LIST_NEXT(id, of_port);
		if (id->file->ending)
			ucma_id_destroy(id);
	}
}

static int conflict_with_any(const struct ucma_id *id, uint16_t port, bool reuse)
{
	const struct ucma_port *p;
	struct ucma_id *other;
	int error = 0;

	end_closed(id->owner->ucma, id->port_ps, port);
	p = port_find(id->owner->ucma, id->port_ps, port);
	if (!p)
		return may_have(id, port) ? 0 : -EADDRNOTAVAIL;
	LIST_FOREACH(other, &p->ids, of_port)
	{
		if (error == 0 && other != id)
			error = conflict(other, id, reuse);
	}
	return error == 0 && !id->held && p->n >= UCMA_SHARING ? -EADDRNOTAVAIL : error;
}

/*
 * The port space of an AF_IB address, as far as its mask says: one that the id may have. RDMA_PS_IB
 * may have each. 0: none (cma_select_ib_ps of the kernel).
 */
static uint16_t ib_port_space(const struct ucma_id *id)
{
	static const uint16_t all[] = {RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP};
	const uint64_t mask = id->src.sid_mask & ~UINT64_C(0xffff);

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if ((id->ps == all[i] || id->ps == RDMA_PS_IB) &&
		    (id->src.sid & mask) == ((uint64_t)all[i] << 16 & mask))
			return all[i];
	return 0;
}

int ucma_port_bind(struct ucma_id *id)
{
	uint16_t port;
	struct ucma_port *p;
	int error;

	id->port_ps = id->src.family == AF_IB ? ib_port_space(id) : id->ps;
	if (!id->port_ps)
		return io_refuse(-EPROTONOSUPPORT, "sid 0x%llx is not in a port space of the id",
				 (unsigned long long)id->src.sid);
	port = id->src.port ? id->src.port : choose(id);
	if (!id->family_set) /* as ipv6(7) has it, where bindv6only is 0 */
		id->family_only = id->src.family == AF_INET;
	error = port ? conflict_with_any(id, port, true) : -EADDRNOTAVAIL;
	if (error < 0)
		io_refuse(error,
			  port ? "port %u is in use by another id, or the process has reached its "
				 "share"
			       : "all %u ephemeral ports are in use",
			  port);
	if (error < 0)
		return error;
	p = port_find(id->owner->ucma, id->port_ps, port);
	if (!p)
		p = make(id, port);
	if (!p)
		return -ENOMEM;
	id->src.port = port;
	if (id->src.family == AF_IB)
		id->src.sid = (uint64_t)id->port_ps << 16 | port;
	hold_port(id, p);
	return 0;
}

int ucma_port_listen(struct ucma_id *id)
{
	int error = id->reuse_address ? conflict_with_any(id, id->src.port, false) : 0;

	if (error == 0)
		id->reuse_address = false;
	else
		io_refuse(error, "another id shares port %u", id->src.port);
	return error;
}

/* ---- who listens ---- */

static bool listens_at(const struct ucma_id *id, const uint8_t gid[16], const struct io_device *dev)
{
	struct ucma_addr to = {0};

	memcpy(to.gid, gid, 16);
	if (id->state != UCMA_LISTENING || id->file->ending || (id->dev && id->dev != dev))
		return false;
	if (id->dev)
		return memcmp(id->local_gid, gid, 16) == 0;
	if (id->src.family == AF_INET6 && id->family_only)
		return !roce_addr_is_v4(to.gid);
	return id->src.family != AF_INET || roce_addr_is_v4(to.gid);
}

struct ucma_id *ucma_port_find_listener(struct io_ucma *u, uint64_t service_id,
					const uint8_t gid[16], const struct io_device *dev)
{
	uint16_t ps = (uint16_t)(service_id >> 16);
	uint16_t port = (uint16_t)service_id;
	const struct ucma_port *p = port_find(u, ps, port);
	struct ucma_id *best = NULL;
	struct ucma_id *id;

	if (!p)
		return NULL;
	LIST_FOREACH(id, &p->ids, of_port)
	{
		if (ucma_service_id(id, &id->src) != service_id || !listens_at(id, gid, dev) ||
		    !ucma_may_use(id->file, dev))
			continue;
		if (!best || is_everywhere(best))
			best = id;
	}
	return best;
}
