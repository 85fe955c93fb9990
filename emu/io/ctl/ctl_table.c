/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes objects of core and daemon as JSON rows. */
#include "ctl_table.h"

#include "ctl_machine.h"
#include "ctl_rows.h"
#include "ctl_server.h"
#include "emu/io/base/base.h"
#include "emu/io/net/udp.h"
#include "emu/io/network/network.h"
#include "emu/io/port/port.h"
#include "emu/io/sandbox/sandbox.h"
#include "emu/io/serve/serve.h"
#include "emu/io/ucma/ucma.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 8 /* of a table that are looked at in one part */

/* A table whose rows come in parts. */
struct io_ctl_table {
	struct ctl_rows rows;
	const struct io_services *h;
	bool (*add)(struct io_ctl_table *t); /* the next part; false: that was the last */
	unsigned device;                     /* which is looked at, and */
	struct core_visit objects;           /* where among its objects */
	uint32_t next;                       /* id of a client, or number of an rdma_cm id */
};

/* ---- objects of the core ---- */

static const struct io_device *device_of(const struct io_ctl_table *c)
{
	return c->h->devices->at[c->device];
}

static void visit(void *arg, void *client, const struct core_fact *facts, unsigned n)
{
	struct io_ctl_table *table = arg;
	struct ctl_rows *t = &table->rows;
	const struct io_client *c = client;

	ctl_rows_start(t);
	ctl_rows_text(t, "device", device_of(table)->id.name);
	ctl_rows_number(t, "client", c->id);
	for (unsigned i = 0; i < n; i++) {
		if (facts[i].text)
			ctl_rows_text(t, facts[i].name, facts[i].text);
		else if (facts[i].hex)
			ctl_rows_hex(t, facts[i].name, facts[i].number);
		else
			ctl_rows_number(t, facts[i].name, facts[i].number);
	}
}

static bool add_objects(struct io_ctl_table *c)
{
	if (c->device < c->h->devices->n &&
	    !core_visit(device_of(c)->core, &c->objects, PLACES, visit, c)) {
		c->objects.next = 0;
		c->device++;
	}
	return c->device < c->h->devices->n;
}

/* ---- the shell's own ---- */

static void put_addresses(struct ctl_rows *t, const struct io_identity *id)
{
	char text[IO_MAX_ADDRESSES * (IO_ADDRESS_TEXT + 1)];
	char one[IO_ADDRESS_TEXT];
	size_t n = 0;

	for (unsigned i = 0; i < id->addresses.count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "," : "",
				      io_address_format(id->addresses.a[i].gid, one));
	ctl_rows_text(t, "addresses", text);
}

static unsigned count_clients(const struct io_services *h, const struct io_device *dev)
{
	unsigned n = 0;

	for (unsigned i = 0; i < h->clients->n; i++)
		n += h->clients->at[i]->dev == dev;
	return n;
}

static void add_device(struct ctl_rows *t, const struct io_services *h, const struct io_device *dev)
{
	const struct io_udp *udp = io_counts_udp(dev);
	char guid[24];

	ctl_rows_start(t);
	snprintf(guid, sizeof(guid), "%016llx", (unsigned long long)dev->id.guid);
	ctl_rows_text(t, "device", dev->id.name);
	ctl_rows_text(t, "node_guid", guid);
	put_addresses(t, &dev->id);
	ctl_rows_text(t, "netdev", dev->id.netdev);
	ctl_rows_text(t, "wire", udp->n_sockets ? "udp" : "none");
	ctl_rows_text(t, "sandbox", io_sandbox_state());
	ctl_rows_number(t, "rcvbuf", udp->rcvbuf);
	ctl_rows_number(t, "window", dev->config.window_bytes);
	ctl_rows_number(t, "clients", count_clients(h, dev));
	for (unsigned k = 0; k < CORE_OBJECT_TYPES; k++)
		ctl_rows_number(t, core_object_name((enum core_object_type)k),
				core_object_count(dev->core, (enum core_object_type)k));
	ctl_rows_text(t, "longest_turn",
		      h->devices->pass.longest_kind ? h->devices->pass.longest_kind : "");
}

static bool add_devices(struct io_ctl_table *c)
{
	add_device(&c->rows, c->h, device_of(c));
	return ++c->device < c->h->devices->n;
}

static bool add_machine(struct io_ctl_table *c)
{
	io_ctl_machine_add(&c->rows, device_of(c));
	return ++c->device < c->h->devices->n;
}

static void add_client(struct ctl_rows *t, const struct io_client *c)
{
	ctl_rows_start(t);
	ctl_rows_number(t, "client", c->id);
	ctl_rows_text(t, "device", c->dev->id.name);
	ctl_rows_number(t, "pid", (uint64_t)c->peer.pid);
	ctl_rows_number(t, "uid", c->peer.uid);
	ctl_rows_text(t, "program", c->program);
	ctl_rows_text(t, "memory", io_mem_how(&c->mem));
	ctl_rows_number(t, "channels", c->channels.count);
	ctl_rows_number(t, "held_bytes", core_client_memory(c->core));
}

/*
 * Their places change when others leave, their ids do not: those with the smallest ids that are to
 * come.
 */
static bool add_clients(struct io_ctl_table *c)
{
	const struct io_clients *all = c->h->clients;
	uint32_t first = UINT32_MAX;

	for (unsigned i = 0; i < all->n; i++)
		if (all->at[i]->id >= c->next && all->at[i]->id < first)
			first = all->at[i]->id;
	for (unsigned i = 0; i < all->n; i++)
		if (all->at[i]->core && all->at[i]->id >= first && all->at[i]->id - first < PLACES)
			add_client(&c->rows, all->at[i]);
	c->next = first < UINT32_MAX - PLACES ? first + PLACES : UINT32_MAX;
	return c->next < UINT32_MAX;
}

static void visit_id(void *arg, const struct io_ucma_view *v)
{
	struct ctl_rows *t = arg;

	ctl_rows_start(t);
	ctl_rows_number(t, "id", v->id);
	ctl_rows_text(t, "device", v->device);
	ctl_rows_text(t, "space", v->space);
	ctl_rows_text(t, "state", v->state);
	ctl_rows_number(t, "port", v->port);
	ctl_rows_text(t, "source", v->src);
	ctl_rows_text(t, "destination", v->dst);
	ctl_rows_number(t, "pid", (uint64_t)v->pid);
	ctl_rows_text(t, "step", v->step);
	ctl_rows_number(t, "qpn", v->qpn);
	ctl_rows_number(t, "unread", v->unread);
	ctl_rows_text(t, "event", v->event);
	ctl_rows_number(t, "room", v->room);
}

static bool add_ids(struct io_ctl_table *c)
{
	return io_ucma_visit(c->h->ucma, &c->next, PLACES, visit_id, &c->rows);
}

/* ---- ports of the modelled network ---- */

static void put_port(struct ctl_rows *t, const struct io_network *n, uint32_t port)
{
	struct fabric_port_state s;
	char name[IO_NETWORK_PORT_NAME];

	fabric_port(n->fabric, port, n->time, &s);
	ctl_rows_start(t);
	io_network_port_name(n, port, name);
	ctl_rows_text(t, "port", name);
	io_network_port_name(n, port ^ 1u, name);
	ctl_rows_text(t, "to", name);
	ctl_rows_text(t, "link", fabric_port_up(n->fabric, port) ? "up" : "down");
	ctl_rows_number(t, "rate_mbps", s.rate / 1000000);
	ctl_rows_number(t, "packets", s.packets);
	ctl_rows_number(t, "bytes", s.bytes);
	ctl_rows_number(t, "queued", s.queued);
	ctl_rows_number(t, "queue_max", s.queue_max);
	ctl_rows_number(t, "marked", s.marked);
	ctl_rows_number(t, "dropped", s.dropped);
	ctl_rows_number(t, "xoff", s.xoff);
	ctl_rows_number(t, "paused_us", s.pause_time / FABRIC_US);
	ctl_rows_text(t, "paused", s.paused ? "yes" : "");
	ctl_rows_number(t, "delay_ns", s.delay / 1000);
	ctl_rows_number(t, "loss_ppm",
			(s.loss * 1000000 + FABRIC_RATIO_ONE / 2) / FABRIC_RATIO_ONE);
}

static bool add_ports(struct io_ctl_table *c)
{
	const struct io_network *n = c->h->network;
	const uint32_t ports = n ? fabric_ports(n->fabric) : 0;

	for (unsigned i = 0; i < PLACES && c->next < ports; i++)
		put_port(&c->rows, n, c->next++);
	return c->next < ports;
}

/* ---- the table ---- */

/* The shell's own tables; the others are the core's objects. */
static const struct own_table {
	const char *name;
	bool (*add)(struct io_ctl_table *t);
} own_tables[] = {
	{"device", add_devices},  {"client", add_clients}, {"cm_id", add_ids},
	{"machine", add_machine}, {"fabric", add_ports},
};

#define OWN_TABLES (sizeof(own_tables) / sizeof(own_tables[0]))

const char *io_ctl_table_at(const void *table, unsigned i)
{
	(void)table;
	if (i < CORE_OBJECT_TYPES)
		return core_object_name((enum core_object_type)i);
	i -= CORE_OBJECT_TYPES;
	return i < OWN_TABLES ? own_tables[i].name : NULL;
}

static bool ctl_table_find(struct io_ctl_table *c, const char *what)
{
	const char *name;

	for (unsigned i = 0; (name = io_ctl_table_at(NULL, i)); i++)
		if (strcmp(what, name) == 0) {
			c->objects.type = (enum core_object_type)i;
			c->add = i < CORE_OBJECT_TYPES ? add_objects
						       : own_tables[i - CORE_OBJECT_TYPES].add;
			return true;
		}
	return false;
}

struct io_ctl_table *io_ctl_table_begin(const struct io_services *h, const char *what)
{
	struct io_ctl_table *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->h = h;
	if (ctl_table_find(c, what))
		return c;
	io_ctl_table_free(c);
	return NULL;
}

bool io_ctl_table_add(struct io_ctl_table *c)
{
	return c->add(c);
}

char *io_ctl_table_end(struct io_ctl_table *c, const char *before, const char *after,
		       size_t *length)
{
	return ctl_rows_end(&c->rows, before, after, length);
}

void io_ctl_table_free(struct io_ctl_table *c)
{
	if (!c)
		return;
	ctl_rows_free(&c->rows);
	free(c);
}

/* ---- counters ---- */

static json_t *read_back(struct ctl_rows *r)
{
	size_t length;
	char *text = ctl_rows_end(r, "", "", &length);
	json_t *whole = text ? json_loadb(text, length, 0, NULL) : NULL;

	free(text);
	return whole;
}

json_t *io_ctl_counters(const struct io_services *h)
{
	struct ctl_rows t = {.n = 0};
	struct io_count count[IO_COUNTS];
	json_t *whole;
	char name[64];

	for (unsigned i = 0; i < h->devices->n; i++) {
		unsigned n = io_counts(h->devices->at[i], count);

		ctl_rows_start(&t);
		ctl_rows_text(&t, "device", h->devices->at[i]->id.name);
		for (unsigned k = 0; k < n; k++) {
			snprintf(name, sizeof(name), "%s%s", count[k].prefix, count[k].name);
			ctl_rows_number(&t, name, count[k].value);
		}
		ctl_rows_number(&t, "longest_turn_us", h->devices->pass.longest / IO_USEC);
		ctl_rows_number(&t, "longest_turn_cpu_us", h->devices->pass.longest_cpu / IO_USEC);
	}
	whole = read_back(&t);
	ctl_rows_free(&t);
	return whole;
}
