/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses, GIDs and ports of a described device. */
#include "machine_device.h"

#include "emu/io/base/base.h"
#include "wire/bytes.h"

#include <errno.h>
#include <string.h>

#define PHYS_DISABLED 3
#define PHYS_POLLING  2
#define PHYS_LINK_UP  5
#define STATE_DOWN    1

/* ---- addresses ---- */

/* Ports are numbered through all devices: that is which address is whose. */
static unsigned ports_before(const struct machine *m, unsigned index)
{
	unsigned n = 0;

	for (unsigned i = 0; i < index; i++)
		n += m->device[i].n_ports;
	return n;
}

static int add(struct io_identity *id, const struct io_settings *s, struct io_address a)
{
	char text[IO_ADDRESS_TEXT];

	a.inside = !io_address_can_bind(&a);
	if (a.inside && s->wire == IO_WIRE_ALWAYS) {
		io_log(IO_LOG_ERROR, "%s: --wire needs addresses of this machine; %s is none",
		       id->name, io_address_format(a.gid, text));
		return -EADDRNOTAVAIL;
	}
	if (id->addresses.count < IO_MAX_ADDRESSES)
		id->addresses.a[id->addresses.count++] = a;
	return 0;
}

/* The address by which packets reach the port: what --addr gives, or the usual one. */
static void own_address(const struct io_settings *s, unsigned index, unsigned port,
			struct io_address *out)
{
	const struct io_address_list *given = &s->addresses[index];
	struct io_address_list usual;

	if (port < given->count) {
		*out = given->a[port];
		return;
	}
	io_address_default(ports_before(s->machine, index) + port, &usual);
	*out = usual.a[0];
}

/* A port has its own address unless the file gives it others; InfiniBand's makes its LID. */
static int add_port(struct io_identity *id, const struct io_settings *s, unsigned port)
{
	const struct machine_port *p = &id->machine_device->port[port];
	struct io_address a = {.scope = 0};
	int error = 0;

	id->first_address[port] = id->addresses.count;
	if (p->n_addresses == 0) {
		own_address(s, id->index, port, &a);
		error = add(id, s, a);
	}
	for (unsigned i = 0; i < p->n_addresses && error == 0; i++) {
		memcpy(a.gid, p->address[i].gid, 16);
		a.subnet = (uint8_t)(p->address[i].prefix + (roce_addr_is_v4(a.gid) ? 96 : 0));
		error = add(id, s, a);
	}
	return error;
}

int io_machine_device_identity(const struct io_settings *settings, unsigned index,
			       struct io_identity *out)
{
	const struct machine_device *d = &settings->machine->device[index];
	int error = 0;

	out->machine_device = d;
	memcpy(out->name, d->name, sizeof(d->name));
	for (unsigned p = 0; p < d->n_ports && error == 0; p++)
		error = add_port(out, settings, p);
	if (error < 0)
		return error;
	out->guid = d->node_guid ? d->node_guid : io_address_guid(&out->addresses.a[0]);
	memcpy(out->netdev, d->port[0].netdev, sizeof(out->netdev));
	return 0;
}

/* ---- GIDs ---- */

void io_machine_device_mac(const struct io_identity *id, unsigned port, uint8_t mac[6])
{
	static const uint8_t none[6];
	const uint8_t *given = id->machine_device->port[port].mac;
	uint64_t guid = io_address_guid(&id->addresses.a[id->first_address[port]]);

	memcpy(mac, given, 6);
	if (memcmp(given, none, 6) != 0)
		return;
	mac[0] = 0x02; /* locally administered, and the last four bytes of the address */
	mac[1] = 0x75;
	roce_store_be32(mac + 2, (uint32_t)guid);
}

/* fe80:: with the modified EUI-64 of the interface (RFC 4291, appendix A). */
static void link_local(const uint8_t mac[6], uint8_t gid[16])
{
	const uint8_t eui[8] = {mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};

	memset(gid, 0, 16);
	gid[0] = 0xfe;
	gid[1] = 0x80;
	memcpy(gid + 8, eui, 8);
}

static void guid_gid(uint64_t guid, uint8_t gid[16])
{
	memset(gid, 0, 16);
	gid[0] = 0xfe;
	gid[1] = 0x80;
	roce_store_be64(gid + 8, guid);
}

/* A table that is being filled, from its beginning. */
struct table {
	struct core_config *cfg;
	struct core_port_look *look;
	unsigned port, n;
};

static void put_gid(struct table *t, const uint8_t gid[16], bool v1)
{
	if (t->n >= t->look->gid_entries)
		return;
	memcpy(core_config_gid(t->cfg, t->port + 1, t->n), gid, 16);
	if (v1)
		t->look->gid_v1[t->n / 32] |= 1u << t->n % 32;
	t->n++;
}

static void put_types(struct table *t, const uint8_t gid[16], bool both)
{
	if (both)
		put_gid(t, gid, true);
	put_gid(t, gid, false);
}

/* Behind the last address of the port. */
static unsigned last_address(const struct table *t, const struct io_identity *id)
{
	return t->port + 1 < id->machine_device->n_ports ? id->first_address[t->port + 1]
							 : id->addresses.count;
}

/* Those of one family; of an address that is link-local there is an entry already. */
static void put_family(struct table *t, const struct io_identity *id, bool v4, bool both)
{
	for (unsigned i = id->first_address[t->port]; i < last_address(t, id); i++)
		if (roce_addr_is_v4(id->addresses.a[i].gid) == v4)
			put_types(t, id->addresses.a[i].gid, both);
}

/* In the order of ib_core: the default GID, IPv4, IPv6. */
static void put_roce(struct table *t, const struct io_identity *id, bool both)
{
	uint8_t mac[6], gid[16];

	io_machine_device_mac(id, t->port, mac);
	link_local(mac, gid);
	put_types(t, gid, both);
	put_family(t, id, true, both);
	put_family(t, id, false, both);
}

static void put_addresses(struct table *t, const struct io_identity *id)
{
	for (unsigned i = id->first_address[t->port]; i < last_address(t, id); i++)
		put_gid(t, id->addresses.a[i].gid, false);
}

static void fill_gids(struct table *t, const struct io_identity *id)
{
	const struct machine_port *p = &id->machine_device->port[t->port];
	uint8_t mac[6], gid[16];

	switch (p->layout) {
	case MACHINE_GIDS_UHCA:
		put_addresses(t, id);
		return;
	case MACHINE_GIDS_MLX5:
		put_roce(t, id, true);
		return;
	case MACHINE_GIDS_RXE:
		put_roce(t, id, false);
		return;
	case MACHINE_GIDS_INFINIBAND:
		guid_gid(id->guid + t->port, gid);
		put_gid(t, gid, false);
		return;
	case MACHINE_GIDS_EFA:
		io_machine_device_mac(id, t->port, mac);
		link_local(mac, gid);
		put_gid(t, gid, false);
		return;
	case MACHINE_GIDS_EMPTY:
		return;
	case MACHINE_GIDS_LITERAL:
		for (unsigned i = 0; i < p->n_gids; i++)
			put_gid(t, p->gid[i].gid, p->gid[i].v1);
		return;
	}
}

/* ---- the port ---- */

static unsigned phys_state(unsigned state)
{
	return state == STATE_DOWN ? PHYS_DISABLED : PHYS_LINK_UP;
}

/* enum ibv_mtu */
static unsigned mtu_code(unsigned bytes)
{
	unsigned code = 1;

	while ((128u << code) < bytes)
		code++;
	return code;
}

static void fill_port(const struct io_identity *id, unsigned port, struct core_config *cfg)
{
	const struct machine_port *p = &id->machine_device->port[port];
	struct core_port_look *look = &cfg->look.port[port];
	struct table t = {.cfg = cfg, .look = look, .port = port};

	look->link_layer = p->infiniband    ? CORE_LINK_INFINIBAND
			   : p->unspecified ? CORE_LINK_NEITHER
					    : CORE_LINK_ETHERNET;
	look->gid_entries = p->gid_entries;
	look->width = machine_width_code(p->width);
	look->speed = machine_speed_code(p->speed);
	look->state = p->state;
	look->phys_state = phys_state(p->state);
	if (p->mtu && mtu_code(p->mtu) < id->active_mtu)
		look->active_mtu = mtu_code(p->mtu);
	look->n_pkeys = p->n_pkeys;
	memcpy(look->pkey, p->pkey, sizeof(p->pkey));
	if (p->infiniband)
		memcpy(look->address, id->addresses.a[id->first_address[port]].gid, 16);
	fill_gids(&t, id);
}

void io_machine_device_config(const struct io_identity *id, struct core_config *cfg)
{
	const struct machine_device *d = id->machine_device;
	struct core_look *look = &cfg->look;

	look->vendor_id = d->pci.vendor;
	look->part_id = d->pci.device;
	look->hw_version = d->hw_version;
	look->sys_image_guid = d->sys_image_guid;
	look->no_sys_image_guid = d->has_sys_image_guid && !d->sys_image_guid;
	if (d->fw_version[0])
		memcpy(look->fw_version, d->fw_version, sizeof(look->fw_version));
	look->n_ports = d->n_ports;
	if (d->driver[0]) /* whose hw_counters it shows (counter_tables.h) */
		cfg->counts_requests = true;
	if (d->node_type)
		cfg->node_type = (enum core_node_type)d->node_type;
	for (unsigned p = 0; p < d->n_ports; p++)
		fill_port(id, p, cfg);
	if (look->port[0].active_mtu)
		cfg->active_mtu = look->port[0].active_mtu;
}
