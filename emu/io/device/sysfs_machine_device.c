/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A described device in sysfs as Linux has it: its folder lies below that of its function on PCI,
 * and the entry of the class is a link to it.
 */
#include "sysfs_machine_device.h"

#include "machine_device.h"

#include <stdio.h>
#include <string.h>

/* In the words of the kernel. */
static const char *node_type(enum core_node_type type)
{
	switch (type) {
	case CORE_NODE_RNIC:
		return "4: RNIC";
	case CORE_NODE_UNSPECIFIED:
		return "7: unspecified";
	case CORE_NODE_CA:
		break;
	}
	return "1: CA";
}

void io_sysfs_device_add(struct sysfs_tree *t, const struct io_identity *id)
{
	const struct machine_device *d = id->machine_device;
	const struct core_look *look = &id->config->look;
	char guid[24];

	sysfs_write(t, "node_type", "%s", node_type(id->node_type));
	sysfs_write(t, "node_guid", "%s", sysfs_guid_text(id->guid, guid));
	sysfs_write(t, "sys_image_guid", "%s",
		    sysfs_guid_text(core_sys_image_guid(id->config), guid));
	sysfs_write(t, "node_desc", "%s emulated HCA", id->name);
	sysfs_write(t, "fw_ver", "%s", look->fw_version);
	sysfs_write(t, "hw_rev", "%x", look->hw_version);
	if (!d || d->hca_type[0])
		sysfs_write(t, "hca_type", "%s", d ? d->hca_type : "uhca");
	if (!d)
		sysfs_write(t, "board_id", "UHCA%04x%04x", IO_VENDOR_ID, IO_PART_ID);
	else if (d->board_id[0])
		sysfs_write(t, "board_id", "%s", d->board_id);
	if (d && d->is_virtual && id->netdev[0])
		sysfs_write(t, "parent", "%s", id->netdev);
}

/* ---- ports ---- */

static const struct machine_port *port_of(const struct io_identity *id, unsigned port)
{
	static const struct machine_port usual = {.state = 4, .width = 4, .speed = 5 /* EDR */};

	return id->machine_device ? &id->machine_device->port[port] : &usual;
}

/* Other ports have one kind of GID, and their GIDs name no interface. */
static bool is_roce(const struct machine_port *p)
{
	return !p->infiniband && !p->unspecified;
}

static void put_gid(struct sysfs_tree *t, const struct io_identity *id, unsigned port, unsigned i)
{
	const uint8_t *gid = id->config->gid[port * CORE_GID_MOST + i];
	const struct core_port_look *look = &id->config->look.port[port];
	const struct machine_port *p = port_of(id, port);
	const char *netdev = id->machine_device ? p->netdev : id->netdev;
	bool v1 = !is_roce(p) || core_gid_is_v1(look, i);
	char name[32], text[40];

	snprintf(name, sizeof(name), "gids/%u", i);
	sysfs_write(t, name, "%s", sysfs_gid_text(gid, text));
	snprintf(name, sizeof(name), "gid_attrs/types/%u", i);
	sysfs_write(t, name, "%s", v1 ? "IB/RoCE v1" : "RoCE v2");
	sysfs_spares(t, "gid_attrs/types", i, i + 1);
	snprintf(name, sizeof(name), "gid_attrs/ndevs/%u", i);
	if (netdev[0] && is_roce(p)) {
		sysfs_write(t, name, "%s", netdev);
		sysfs_spares(t, "gid_attrs/ndevs", i, i + 1);
	} else {
		sysfs_unreadable(t, "gid_attrs/ndevs", i, i + 1);
	}
}

/* Runs of empty entries are one file under many names. */
static void put_gids(struct sysfs_tree *t, const struct io_identity *id, unsigned port)
{
	const uint8_t(*gids)[16] = (const uint8_t(*)[16]) & id->config->gid[port * CORE_GID_MOST];
	unsigned entries = id->config->look.port[port].gid_entries, next;
	static const uint8_t none[16];
	char text[40];

	for (unsigned i = 0; i < entries; i = next) {
		next = i + 1;
		if (!roce_addr_is_zero(gids[i])) {
			put_gid(t, id, port, i);
			continue;
		}
		while (next < entries && roce_addr_is_zero(gids[next]))
			next++;
		sysfs_column(t, "gids", i, next, sysfs_gid_text(none, text));
		sysfs_unreadable(t, "gid_attrs/types", i, next);
		sysfs_unreadable(t, "gid_attrs/ndevs", i, next);
	}
}

static void put_pkeys(struct sysfs_tree *t, const struct core_port_look *look)
{
	char name[32];

	for (unsigned i = 0; i < look->n_pkeys; i++) {
		snprintf(name, sizeof(name), "pkeys/%u", i);
		sysfs_write(t, name, "0x%04x", look->pkey[i]);
	}
}

static const char *layer_of(const struct machine_port *p)
{
	return p->infiniband ? "InfiniBand" : p->unspecified ? "Unknown" : "Ethernet";
}

void io_sysfs_port_add(struct sysfs_tree *t, const struct io_identity *id, unsigned port)
{
	static const char *const states[] = {"0: NOP",   "1: DOWN",   "2: INIT",
					     "3: ARMED", "4: ACTIVE", "5: ACTIVE_DEFER"};
	const struct core_port_look *look = &id->config->look.port[port];
	const struct machine_port *p = port_of(id, port);
	char rate[MACHINE_RATE_TEXT];

	sysfs_base(t, "sys/class/infiniband/%s/ports/%u", id->name, port + 1);
	sysfs_write(t, "state", "%s", states[p->state]);
	sysfs_write(t, "phys_state", p->state == 1 ? "3: Disabled" : "5: LinkUp");
	sysfs_write(t, "link_layer", "%s", layer_of(p));
	sysfs_write(t, "rate", "%s", id->rate && port == 0 ? id->rate : machine_rate_text(p, rate));
	sysfs_write(t, "lid", "0x%x", core_lid_of(look->address));
	sysfs_write(t, "lid_mask_count", "0");
	sysfs_write(t, "sm_lid", p->infiniband ? "0x1" : "0x0");
	sysfs_write(t, "sm_sl", "0");
	/* Communication management; on Ethernet GIDs are IP addresses. */
	sysfs_write(t, "cap_mask", p->infiniband ? "0x00010000" : "0x04010000");
	put_pkeys(t, look);
	put_gids(t, id, port);
}

/* ---- the interface ---- */

/* IP over InfiniBand: flags and QP number, which are zero here, and the GID. */
static void fill_address(const struct io_identity *id, unsigned port, struct sysfs_net *net)
{
	if (net->infiniband)
		memcpy(net->address + 4, id->config->gid[port * CORE_GID_MOST], 16);
	else
		io_machine_device_mac(id, port, net->address);
}

static void put_net(struct sysfs_tree *t, const struct io_identity *id, unsigned port)
{
	const struct machine_port *p = &id->machine_device->port[port];
	struct sysfs_net net = {.name = p->netdev,
				.port = port,
				.infiniband = p->infiniband,
				.up = p->state >= 4,
				.mbit = id->mbit && port == 0 ? id->mbit : p->rate * 1000,
				.mtu = p->infiniband ? 2044 : 1500,
				.index = 1000 + 2 * id->index + port};

	if (!p->infiniband && (p->mtu ? p->mtu : 4096) > 1024)
		net.mtu = 9000;
	if (!p->netdev[0])
		return;
	fill_address(id, port, &net);
	sysfs_net_make(t, id->machine_device, &net);
}

/* ---- */

static void put_place(struct sysfs_tree *t, const struct io_identity *id, const char *path)
{
	char target[2 * SYSFS_PATH], bdf[MACHINE_BDF_TEXT];

	sysfs_base(t, "%.200s/infiniband/%s", path, id->name);
	io_sysfs_device_add(t, id);
	snprintf(target, sizeof(target), "../../../%s",
		 machine_bdf_text(&id->machine_device->pci.at, bdf));
	if (!id->machine_device->is_virtual)
		sysfs_link(t, "device", target);
	sysfs_base(t, "sys/class/infiniband");
	snprintf(target, sizeof(target), "../../%s/infiniband/%s", path + strlen("sys/"), id->name);
	sysfs_link(t, id->name, target);
}

static void put_verbs(struct sysfs_tree *t, const struct io_identity *id, const char *path,
		      unsigned number)
{
	char name[64], target[2 * SYSFS_PATH];
	size_t n = 0;

	sysfs_base(t, "%.200s/infiniband_verbs", path);
	snprintf(name, sizeof(name), "uverbs%u", number);
	for (const char *p = path + strlen("sys/"); *p; p++)
		if (*p == '/')
			n += (size_t)snprintf(target + n, sizeof(target) - n, "../");
	snprintf(target + n, sizeof(target) - n, "../../class/infiniband_verbs/%s", name);
	if (!id->machine_device->is_virtual)
		sysfs_link(t, name, target);
}

/* For programs that look for addresses among network interfaces, where ours are not. */
static void put_addresses(struct sysfs_tree *t, const struct io_identity *id)
{
	char text[IO_MAX_ADDRESSES * 40 + 1], one[40], target[32];
	size_t n = 0;

	for (unsigned i = 0; i < id->addresses.count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n",
				      sysfs_gid_text(id->addresses.a[i].gid, one));
	sysfs_base(t, "addresses");
	sysfs_bytes(t, id->name, text, n);
	snprintf(text, sizeof(text), "by-number/%u", id->index);
	snprintf(target, sizeof(target), "../%s", id->name);
	sysfs_link(t, text, target);
}

void io_sysfs_machine_device_add(struct sysfs_tree *t, const struct io_identity *id,
				 unsigned number)
{
	char path[SYSFS_PATH];

	sysfs_device_path(id->machine_device, path);
	put_place(t, id, path);
	put_verbs(t, id, path, number);
	io_sysfs_uverbs_add(t, id, number);
	put_addresses(t, id);
	for (unsigned p = 0; p < id->machine_device->n_ports; p++) {
		io_sysfs_port_add(t, id, p);
		put_net(t, id, p);
	}
}
