/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows from several members of a machine, and what does not fit together. */
#include "read.h"

#include "emu/words/words.h"

#include <stdio.h>
#include <string.h>

const char *machine_bdf_text(const struct machine_bdf *at, char out[MACHINE_BDF_TEXT])
{
	snprintf(out, MACHINE_BDF_TEXT, "%04x:%02x:%02x.%x", at->domain, at->bus, at->slot & 0x1f,
		 at->function & 7);
	return out;
}

bool machine_bdf_parse(const char *text, struct machine_bdf *out)
{
	unsigned domain, bus, slot, function;
	int n = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &n) != 4 ||
	    text[n] || slot > 0x1f || function > 7)
		return false;
	*out = (struct machine_bdf){(uint16_t)domain, (uint8_t)bus, (uint8_t)slot,
				    (uint8_t)function};
	return true;
}

bool machine_bdf_equal(const struct machine_bdf *a, const struct machine_bdf *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->slot == b->slot &&
	       a->function == b->function;
}

unsigned machine_ports(const struct machine *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->n_devices; i++)
		n += m->device[i].n_ports;
	return n;
}

/* ---- ports ---- */

static void settle_speed(struct reading *r, struct machine_port *p)
{
	unsigned tenths;

	if (!p->has_speed && !p->rate)
		p->rate = 100;
	for (unsigned s = 0; !p->has_speed && machine_speed_name(s); s++) {
		if (p->width * machine_speed_tenths(s) / 10 != p->rate)
			continue;
		p->speed = s;
		p->has_speed = true;
	}
	if (!p->has_speed) {
		fields_fail(r, "no speed gives %u Gb/s on %u lanes: give speed and width", p->rate,
			    p->width);
		return;
	}
	tenths = p->width * machine_speed_tenths(p->speed);
	if (p->rate && tenths / 10 != p->rate)
		fields_fail(r, "%uX %s makes %u Gb/s, not %u", p->width,
			    machine_speed_name(p->speed), tenths / 10, p->rate);
	p->rate = tenths / 10;
}

/* How many entries the layout fills. */
static unsigned entries(const struct machine_port *p)
{
	unsigned n = p->n_addresses ? p->n_addresses : 1;

	switch (p->layout) {
	case MACHINE_GIDS_UHCA:
		return n;
	case MACHINE_GIDS_MLX5:
		return 2 + 2 * n;
	case MACHINE_GIDS_RXE:
		return 1 + n;
	case MACHINE_GIDS_INFINIBAND:
	case MACHINE_GIDS_EFA:
		return 1;
	case MACHINE_GIDS_EMPTY:
		return 0;
	case MACHINE_GIDS_LITERAL:
		return p->n_gids;
	}
	return 0;
}

static void settle_gids(struct reading *r, struct machine_port *p)
{
	const unsigned usual = 16;

	if (!p->has_layout)
		p->layout = p->infiniband ? MACHINE_GIDS_INFINIBAND : MACHINE_GIDS_UHCA;
	if (p->infiniband && (p->layout == MACHINE_GIDS_UHCA || p->layout == MACHINE_GIDS_MLX5 ||
			      p->layout == MACHINE_GIDS_RXE))
		fields_fail(r, "GIDs of an InfiniBand port are not IP addresses: use the layout "
			       "\"infiniband\" or a list");
	if (!p->gid_entries)
		p->gid_entries = entries(p) < usual ? usual : entries(p);
	if (entries(p) > p->gid_entries)
		fields_fail(r, "the GID table has %u entries; its layout fills %u", p->gid_entries,
			    entries(p));
}

static void settle_port(struct reading *r, struct machine_port *p)
{
	if (!p->width)
		p->width = 4;
	settle_speed(r, p);
	settle_gids(r, p);
	if (p->infiniband && p->n_addresses > 0)
		fields_fail(r, "addresses are for Ethernet ports: an InfiniBand port has a LID, "
			       "which is made of its own address");
	if (!p->n_pkeys)
		p->pkey[p->n_pkeys++] = 0xffff;
}

/* ---- devices ---- */

static int find_device(const struct machine *m, const char *name)
{
	for (unsigned i = 0; i < m->n_devices; i++)
		if (strcmp(m->device[i].name, name) == 0)
			return (int)i;
	return -1;
}

static const char *name_at(const void *table, unsigned i)
{
	const struct machine *m = table;

	return i < m->n_devices ? m->device[i].name : NULL;
}

static void settle_parent(struct reading *r, struct machine *m, struct machine_device *d)
{
	char words[512];

	if (!d->parent[0])
		return;
	d->of = find_device(m, d->parent);
	if (d->of < 0)
		fields_fail(r, "%s",
			    words_refuse(words, sizeof(words), "parent", d->parent, name_at, m));
	else if (&m->device[d->of] == d || m->device[d->of].parent[0])
		fields_fail(r, "parent '%s' is itself a virtual function", d->parent);
	else if (m->device[d->of].total_vfs < 1)
		fields_fail(r, "parent '%s' has no SR-IOV: give it total_vfs", d->parent);
}

static void settle_pci(struct reading *r, struct machine_device *d)
{
	static const struct machine_bdf none;
	struct machine_pci *p = &d->pci;

	if (!d->is_virtual && machine_bdf_equal(&p->at, &none))
		fields_fail(r,
			    "device '%s' has no PCI address: give pci, or null for a device "
			    "that is on no bus",
			    d->name);
	if (d->is_virtual && d->n_bridges > 0)
		fields_fail(r, "device '%s' is on no bus, and has bridges", d->name);
	if (!p->subsystem_vendor)
		p->subsystem_vendor = p->vendor;
	if (!p->subsystem_device)
		p->subsystem_device = p->device;
}

/* The default speed is that of PCI 5.0, on sixteen lanes. */
static void settle_link(struct machine_pci *p)
{
	if (!p->link.speed[0])
		snprintf(p->link.speed, sizeof(p->link.speed), "%s",
			 p->max_link.speed[0] ? p->max_link.speed : "32.0 GT/s PCIe");
	if (!p->link.width)
		p->link.width = p->max_link.width ? p->max_link.width : 16;
	if (!p->max_link.speed[0])
		p->max_link = (struct machine_link){.width = p->max_link.width};
	if (!p->max_link.speed[0])
		memcpy(p->max_link.speed, p->link.speed, sizeof(p->link.speed));
	if (!p->max_link.width)
		p->max_link.width = p->link.width;
}

static bool same_chain(const struct machine_device *a, unsigned na, const struct machine_device *b,
		       unsigned nb)
{
	if (na != nb)
		return false;
	for (unsigned i = 0; i < na; i++)
		if (!machine_bdf_equal(&a->bridge[i], &b->bridge[i]))
			return false;
	return true;
}

/* A bridge stands at one place: the same bridges are above it wherever it is named. */
static void compare_bridges(struct reading *r, const struct machine_device *a,
			    const struct machine_device *b)
{
	char text[MACHINE_BDF_TEXT];

	for (unsigned i = 0; i < a->n_bridges; i++)
		for (unsigned k = 0; k < b->n_bridges; k++)
			if (machine_bdf_equal(&a->bridge[i], &b->bridge[k]) &&
			    !same_chain(a, i, b, k))
				fields_fail(r,
					    "bridge %s of '%s' has other bridges above it than "
					    "for '%s'",
					    machine_bdf_text(&a->bridge[i], text), b->name,
					    a->name);
}

static bool shares_netdev(const struct machine_device *a, const struct machine_device *b)
{
	for (unsigned i = 0; i < a->n_ports; i++)
		for (unsigned k = 0; k < b->n_ports; k++)
			if ((a != b || i < k) && a->port[i].netdev[0] &&
			    strcmp(a->port[i].netdev, b->port[k].netdev) == 0)
				return true;
	return false;
}

static void compare(struct reading *r, const struct machine_device *a,
		    const struct machine_device *b)
{
	char text[MACHINE_BDF_TEXT];

	if (strcmp(a->name, b->name) == 0)
		fields_fail(r, "two devices have the name '%s'", b->name);
	if (!a->is_virtual && !b->is_virtual && machine_bdf_equal(&a->pci.at, &b->pci.at))
		fields_fail(r, "'%s' and '%s' have the PCI address %s", a->name, b->name,
			    machine_bdf_text(&b->pci.at, text));
	if (shares_netdev(a, b))
		fields_fail(r, "'%s' and '%s' name the same network interface", a->name, b->name);
	compare_bridges(r, a, b);
}

static void settle_device(struct reading *r, struct machine *m, unsigned i)
{
	struct machine_device *d = &m->device[i];

	if (!d->name[0])
		snprintf(d->name, sizeof(d->name), "uhca%u", i);
	settle_pci(r, d);
	settle_link(&d->pci);
	for (unsigned p = 0; p < d->n_ports; p++)
		settle_port(r, &d->port[p]);
	if (shares_netdev(d, d))
		fields_fail(r, "both ports of '%s' name the same network interface", d->name);
	for (unsigned k = 0; k < i; k++)
		compare(r, &m->device[k], d);
}

static bool has_node(const struct machine *m, int number)
{
	for (unsigned i = 0; i < m->n_nodes; i++)
		if (m->node[i].number == number)
			return true;
	return number == MACHINE_NO_NODE;
}

/* Nodes that nobody has described are there all the same. */
static void add_nodes(struct machine *m)
{
	for (unsigned i = 0; i < m->n_devices; i++) {
		int number = m->device[i].numa_node;

		if (!has_node(m, number) && m->n_nodes < MACHINE_NODES)
			m->node[m->n_nodes++] = (struct machine_node){.number = number};
	}
}

void machine_settle(struct reading *r, struct machine *m)
{
	if (m->n_devices == 0)
		fields_fail(r, "no devices: \"devices\" is a list of one or more");
	fields_enter(r, "devices", 0);
	for (unsigned i = 0; i < m->n_devices; i++) {
		fields_enter(r, NULL, i);
		settle_device(r, m, i);
		fields_leave(r);
	}
	for (unsigned i = 0; i < m->n_devices; i++) {
		fields_enter(r, NULL, i);
		settle_parent(r, m, &m->device[i]);
		fields_leave(r);
	}
	fields_leave(r);
	for (unsigned i = 0; i < m->n_bridges; i++)
		settle_link(&m->bridge[i]);
	add_nodes(m);
}
