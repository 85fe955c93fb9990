/* SPDX-License-Identifier: BSD-2-Clause */
/* The box that delivers bursts to devices of the same daemon. */
#include "loopback.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned hash(const uint8_t gid[16])
{
	uint64_t a;
	uint64_t b;

	memcpy(&a, gid, 8);
	memcpy(&b, gid + 8, 8);
	return (unsigned)(((a ^ b) * 0x9e3779b97f4a7c15ull) >> 32);
}

/* The entry of the address, or the free one where it would stand. */
static struct io_fabric_entry *probe(const struct io_fabric *f, const uint8_t gid[16])
{
	for (unsigned i = hash(gid);; i++) {
		struct io_fabric_entry *e = &f->slot[i & (f->n_slots - 1)];

		if (!e->dev || memcmp(e->gid, gid, 16) == 0)
			return e;
	}
}

static int grow(struct io_fabric *f)
{
	struct io_fabric old = *f;

	f->n_slots = old.n_slots ? 2 * old.n_slots : 64;
	f->slot = calloc(f->n_slots, sizeof(*f->slot));
	if (!f->slot) {
		*f = old;
		return -ENOMEM;
	}
	for (unsigned i = 0; i < old.n_slots; i++)
		if (old.slot[i].dev)
			*probe(f, old.slot[i].gid) = old.slot[i];
	free(old.slot);
	return 0;
}

static int add(struct io_fabric *f, struct io_device *dev, const uint8_t gid[16])
{
	struct io_fabric_entry *e;
	int error = 2 * (f->count + 1) > f->n_slots ? grow(f) : 0;

	if (error < 0)
		return error;
	e = probe(f, gid);
	if (!e->dev)
		f->count++;
	memcpy(e->gid, gid, 16);
	if (!e->dev)
		e->dev = dev;
	return 0;
}

/* GIDs that are no addresses of the network lead to the device inside the daemon. */
static int add_gids(struct io_fabric *f, struct io_device *dev)
{
	int error = 0;

	for (unsigned i = 0; i < CORE_PORTS_MAX * CORE_GID_MOST && error == 0; i++)
		if (!roce_addr_is_zero(dev->config.gid[i]))
			error = add(f, dev, dev->config.gid[i]);
	return error;
}

int io_fabric_add(struct io_fabric *f, struct io_device *dev)
{
	int error = 0;

	for (unsigned k = 0; k < dev->id.addresses.count && error == 0; k++)
		error = add(f, dev, dev->id.addresses.a[k].gid);
	return error == 0 && dev->id.machine_device ? add_gids(f, dev) : error;
}

struct io_device *io_fabric_find(const struct io_fabric *f, const uint8_t gid[16])
{
	return f->n_slots ? probe(f, gid)->dev : NULL;
}

void io_fabric_destroy(struct io_fabric *f)
{
	free(f->slot);
	*f = (struct io_fabric){0};
}

static void say_no_route(struct io_loopback *l, const struct core_burst *t, uint64_t now)
{
	static struct io_log_limit limit;
	char text[IO_ADDRESS_TEXT];
	uint32_t held;

	l->no_route += t->count;
	netif_report_lost(&l->netif, &(struct netif_lost){.burst = t, .why = "no_route"});
	if (io_log_limit(&limit, 2, now, &held))
		io_log(IO_LOG_WARN,
		       "%s: no device of this daemon has the address %s, and --no-wire allows no "
		       "other (%u more)",
		       l->dev->id.name, io_address_format(t->flow.dst, text), held);
}

/* To each device of the daemon, the sender's own too; which groups it hears is its affair. */
static void send_to_group(struct io_loopback *l, const struct core_burst *t, uint64_t now)
{
	for (unsigned i = 0; i < l->fabric->n_slots && !l->always_wire; i++) {
		const struct io_fabric_entry *e = &l->fabric->slot[i];

		/* A device with several addresses stands there several times. */
		if (e->dev && memcmp(e->gid, e->dev->id.addresses.a[0].gid, 16) == 0)
			netif_receive(e->dev->bottom->above, t, now);
	}
	l->delivered += l->always_wire ? 0 : t->count;
	if (l->netif.below)
		netif_send(l->netif.below, t, now);
}

static void loopback_send(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct io_loopback *l = (struct io_loopback *)n;
	struct io_device *to = l->always_wire ? NULL : io_fabric_find(l->fabric, t->flow.dst);

	if (roce_addr_is_group(t->flow.dst))
		send_to_group(l, t, now);
	else if (to) {
		l->delivered += t->count;
		netif_receive(to->bottom->above, t, now);
	} else if (n->below) {
		netif_send(l->netif.below, t, now);
	} else {
		say_no_route(l, t, now);
	}
}

static void loopback_receive(struct netif *n, const struct core_burst *t, uint64_t now)
{
	const struct io_loopback *l = (struct io_loopback *)n;

	/* The network brings back what went to a group; here they have it already. */
	if (roce_addr_is_group(t->flow.dst) && !l->always_wire &&
	    io_fabric_find(l->fabric, t->flow.src))
		return;
	netif_receive(n->above, t, now);
}

static const struct netif_ops loopback_ops = {.send = loopback_send, .receive = loopback_receive};

void io_loopback_init(struct io_loopback *l, const struct io_fabric *fabric, struct io_device *dev,
		      bool always_wire)
{
	*l = (struct io_loopback){.netif.ops = &loopback_ops,
				  .fabric = fabric,
				  .dev = dev,
				  .always_wire = always_wire};
}
