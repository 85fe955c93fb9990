/* SPDX-License-Identifier: BSD-2-Clause */
/* See ctl_machine.h. A device that is not described has one port, and stands nowhere. */
#include "ctl_machine.h"

#include "emu/io/base/base.h"

#include <stdio.h>
#include <string.h>

#define GIDS_SHOWN 32
#define LIST       2048

/* ---- the function on PCI ---- */

static void put_bridges(struct ctl_rows *t, const struct machine_device *d)
{
	char text[MACHINE_BRIDGES * MACHINE_BDF_TEXT] = "", bdf[MACHINE_BDF_TEXT];
	size_t n = 0;

	for (unsigned i = 0; i < d->n_bridges; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "/" : "",
				      machine_bdf_text(&d->bridge[i], bdf));
	ctl_rows_text(t, "bridges", text);
}

static void put_function(struct ctl_rows *t, const struct machine_device *d)
{
	char text[2 * MACHINE_TEXT], bdf[MACHINE_BDF_TEXT];

	if (!d || d->is_virtual) {
		ctl_rows_text(t, "pci", NULL);
		ctl_rows_text(t, "bridges", NULL);
		ctl_rows_text(t, "pci_link", NULL);
	} else {
		ctl_rows_text(t, "pci", machine_bdf_text(&d->pci.at, bdf));
		put_bridges(t, d);
		snprintf(text, sizeof(text), "%s x%u", d->pci.link.speed, d->pci.link.width);
		ctl_rows_text(t, "pci_link", text);
	}
	snprintf(text, sizeof(text), "%d", d ? d->numa_node : MACHINE_NO_NODE);
	ctl_rows_text(t, "numa_node", text);
	ctl_rows_text(t, "parent", d && d->parent[0] ? d->parent : NULL);
}

static void put_identity(struct ctl_rows *t, const struct io_device *dev)
{
	const struct core_look *look = &dev->config.look;
	char text[32];

	snprintf(text, sizeof(text), "%04x:%04x", look->vendor_id, look->part_id);
	ctl_rows_text(t, "part", text);
	ctl_rows_text(t, "fw_version", look->fw_version);
	ctl_rows_text(t, "board_id",
		      dev->id.machine_device ? dev->id.machine_device->board_id : "");
}

/* ---- the port ---- */

static void put_rate(struct ctl_rows *t, const struct io_device *dev, unsigned port)
{
	static const struct machine_port usual = {.width = 4, .speed = 5 /* EDR */};
	const struct machine_device *d = dev->id.machine_device;
	char text[MACHINE_RATE_TEXT];

	/* In a modelled network, the link's. */
	if (port == 0 && dev->id.rate)
		ctl_rows_text(t, "rate", core_port_link(dev->core)->text);
	else
		ctl_rows_text(t, "rate", machine_rate_text(d ? &d->port[port] : &usual, text));
}

static void put_link(struct ctl_rows *t, const struct io_device *dev, unsigned port)
{
	static const char *const states[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "DEFER"};
	const struct machine_device *d = dev->id.machine_device;
	const struct core_port_look *look = core_port_look(dev->core, port + 1);
	unsigned state =
		port == 0 && core_port_is_down(dev->core) && look->state == 4 ? 1 : look->state;

	ctl_rows_text(t, "state", states[state]);
	put_rate(t, dev, port);
	ctl_rows_text(t, "link_layer",
		      look->link_layer == CORE_LINK_INFINIBAND ? "InfiniBand"
		      : d && d->port[port].unspecified         ? "Unknown"
							       : "Ethernet");
	ctl_rows_number(t, "lid", core_lid_of(look->address));
	ctl_rows_text(t, "netdev", d ? d->port[port].netdev : dev->id.netdev);
}

/* "3 ::ffff:127.0.0.1 v2, ...": those that are not empty. */
static void put_gids(struct ctl_rows *t, const struct io_device *dev, unsigned port)
{
	const struct core_port_look *look = &dev->config.look.port[port];
	char text[LIST] = "", one[IO_ADDRESS_TEXT];
	unsigned shown = 0;
	size_t n = 0;

	for (unsigned i = 0; i < look->gid_entries && shown < GIDS_SHOWN; i++) {
		const uint8_t *gid = dev->config.gid[port * CORE_GID_MOST + i];

		if (roce_addr_is_zero(gid))
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u %s%s", shown++ ? ", " : "",
				      i, io_address_format(gid, one),
				      look->link_layer == CORE_LINK_INFINIBAND ? ""
				      : core_gid_is_v1(look, i)                ? " v1"
									       : " v2");
	}
	ctl_rows_text(t, "gids", text);
}

static void put_pkeys(struct ctl_rows *t, const struct core_port_look *look)
{
	char text[CORE_PKEY_MOST * 7 + 1] = "";
	size_t n = 0;

	for (unsigned i = 0; i < look->n_pkeys; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s0x%04x", i ? "," : "",
				      look->pkey[i]);
	ctl_rows_text(t, "pkeys", text);
}

void io_ctl_machine_add(struct ctl_rows *t, const struct io_device *dev)
{
	for (unsigned p = 0; p < dev->config.look.n_ports; p++) {
		ctl_rows_start(t);
		ctl_rows_text(t, "device", dev->id.name);
		ctl_rows_number(t, "port", p + 1);
		put_function(t, dev->id.machine_device);
		put_identity(t, dev);
		put_link(t, dev, p);
		put_gids(t, dev, p);
		put_pkeys(t, &dev->config.look.port[p]);
	}
}
