/* SPDX-License-Identifier: BSD-2-Clause */
/* PCI, network interfaces and the host's own entries. See sysfs_machine.h. */
#include "sysfs_machine.h"

#include "cpus.h"
#include "numa.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_BYTES 64 /* of configuration space: its header */
#define CLASS_BRIDGE 0x0604
#define BARS         13 /* ranges of addresses of a function, and of a bridge */
#define BARS_BRIDGE  17

/* ---- paths ---- */

/* The path of the first n bridges of a device; with all of them that of the device's bus. */
static void bridge_path(const struct machine_device *d, unsigned n, char out[SYSFS_PATH])
{
	const struct machine_bdf *top = d->n_bridges ? &d->bridge[0] : &d->pci.at;
	size_t len = (size_t)snprintf(out, SYSFS_PATH, "sys/devices/pci%04x:%02x", top->domain,
				      top->bus);
	char bdf[MACHINE_BDF_TEXT];

	for (unsigned i = 0; i < n; i++)
		len += (size_t)snprintf(out + len, SYSFS_PATH - len, "/%s",
					machine_bdf_text(&d->bridge[i], bdf));
}

void sysfs_device_path(const struct machine_device *d, char out[SYSFS_PATH])
{
	char bdf[MACHINE_BDF_TEXT];
	size_t len;

	if (d->is_virtual) {
		snprintf(out, SYSFS_PATH, "sys/devices/virtual");
		return;
	}
	bridge_path(d, d->n_bridges, out);
	len = strlen(out);
	snprintf(out + len, SYSFS_PATH - len, "/%s", machine_bdf_text(&d->pci.at, bdf));
}

/* ---- what functions and bridges say ---- */

static void put_cpus(struct sysfs_tree *t, const struct machine *m, int node, const char *mask,
		     const char *list)
{
	char text[IO_CPUS_TEXT];
	struct io_cpus own, all;

	io_cpus_of_node(m, node, &own);
	io_cpus_all(m, &all);
	sysfs_write(t, mask, "%s", io_cpus_mask(&own, &all, text));
	sysfs_write(t, list, "%s", io_cpus_list(&own, text));
}

static void put_links(struct sysfs_tree *t, const struct machine_pci *p)
{
	sysfs_write(t, "current_link_speed", "%s", p->link.speed);
	sysfs_write(t, "current_link_width", "%u", p->link.width);
	sysfs_write(t, "max_link_speed", "%s", p->max_link.speed);
	sysfs_write(t, "max_link_width", "%u", p->max_link.width);
}

/* As PCI has them: little-endian. */
static void store16(uint8_t *to, unsigned value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

static void fill_config(const struct machine_pci *p, uint8_t c[CONFIG_BYTES])
{
	memset(c, 0, CONFIG_BYTES);
	store16(c, p->vendor);
	store16(c + 2, p->device);
	store16(c + 4, 0x0006); /* memory, bus master */
	c[8] = (uint8_t)p->revision;
	c[9] = (uint8_t)p->class;
	c[10] = (uint8_t)(p->class >> 8);
	c[11] = (uint8_t)(p->class >> 16);
}

/* A line for each range of addresses: there are none. libpci wants the file. */
static void put_resources(struct sysfs_tree *t, unsigned n)
{
	static const char line[] = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
	char text[BARS_BRIDGE * sizeof(line)];

	for (unsigned i = 0; i < n; i++)
		memcpy(text + i * (sizeof(line) - 1), line, sizeof(line));
	sysfs_bytes(t, "resource", text, n * (sizeof(line) - 1));
}

static void put_identity(struct sysfs_tree *t, const struct machine *m, const struct machine_pci *p,
			 int node)
{
	char bdf[MACHINE_BDF_TEXT];

	sysfs_write(t, "vendor", "0x%04x", p->vendor);
	sysfs_write(t, "device", "0x%04x", p->device);
	sysfs_write(t, "subsystem_vendor", "0x%04x", p->subsystem_vendor);
	sysfs_write(t, "subsystem_device", "0x%04x", p->subsystem_device);
	sysfs_write(t, "class", "0x%06x", p->class);
	sysfs_write(t, "revision", "0x%02x", p->revision);
	sysfs_write(t, "numa_node", "%d", node);
	sysfs_write(t, "modalias", "pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X", p->vendor,
		    p->device, p->subsystem_vendor, p->subsystem_device, p->class >> 16,
		    p->class >> 8 & 0xff, p->class & 0xff);
	sysfs_write(t, "uevent", "PCI_CLASS=%X\nPCI_ID=%04X:%04X\nPCI_SLOT_NAME=%s", p->class,
		    p->vendor, p->device, machine_bdf_text(&p->at, bdf));
	sysfs_write(t, "enable", "1");
	sysfs_write(t, "irq", "0");
	put_resources(t, p->class >> 8 == CLASS_BRIDGE ? BARS_BRIDGE : BARS);
	put_cpus(t, m, node, "local_cpus", "local_cpulist");
	put_links(t, p);
}

/* "../../" for each part of the path, to lead out of it. */
static void up_from(const char *path, char out[SYSFS_PATH])
{
	size_t n = 0;

	out[0] = '\0';
	for (; *path && n + 4 < SYSFS_PATH; path++)
		if (*path == '/')
			n += (size_t)snprintf(out + n, SYSFS_PATH - n, "../");
}

/* ---- buses ---- */

static void put_bus(struct sysfs_tree *t, const struct machine *m, const char *path,
		    const struct machine_bdf *at, int node)
{
	char name[32], target[2 * SYSFS_PATH];

	snprintf(name, sizeof(name), "%04x:%02x", at->domain, at->bus);
	sysfs_base(t, "%.200s/pci_bus/%s", path, name);
	put_cpus(t, m, node, "cpuaffinity", "cpulistaffinity");
	sysfs_base(t, "sys/class/pci_bus");
	snprintf(target, sizeof(target), "../../%s/pci_bus/%s", path + strlen("sys/"), name);
	sysfs_link_beside(t, name, target);
}

static void put_function_link(struct sysfs_tree *t, const char *path, const struct machine_bdf *at)
{
	char bdf[MACHINE_BDF_TEXT], target[2 * SYSFS_PATH];

	snprintf(target, sizeof(target), "../../../%s", path + strlen("sys/"));
	sysfs_base(t, "sys/bus/pci/devices");
	sysfs_link_beside(t, machine_bdf_text(at, bdf), target);
}

/* ---- bridges ---- */

static const struct machine_pci *identity_of(const struct machine *m, const struct machine_bdf *at)
{
	static struct machine_pci plain = {.vendor = 0x75ca,
					   .device = 2,
					   .subsystem_vendor = 0x75ca,
					   .subsystem_device = 2,
					   .class = 0x060400,
					   .link = {"32.0 GT/s PCIe", 16},
					   .max_link = {"32.0 GT/s PCIe", 16}};

	for (unsigned i = 0; i < m->n_bridges; i++)
		if (machine_bdf_equal(&m->bridge[i].at, at))
			return &m->bridge[i];
	plain.at = *at;
	return &plain;
}

/* The bus right below bridge n of the device. */
static const struct machine_bdf *below(const struct machine_device *d, unsigned n)
{
	return n + 1 < d->n_bridges ? &d->bridge[n + 1] : &d->pci.at;
}

/* The highest bus below a bridge. */
static unsigned last_bus(const struct machine *m, const struct machine_bdf *bridge)
{
	unsigned last = 0;

	for (unsigned i = 0; i < m->n_devices; i++)
		for (unsigned k = 0; k < m->device[i].n_bridges; k++)
			if (machine_bdf_equal(&m->device[i].bridge[k], bridge) &&
			    m->device[i].pci.at.bus > last)
				last = m->device[i].pci.at.bus;
	return last;
}

static bool is_made(const struct machine *m, const struct machine_device *d, unsigned n)
{
	for (const struct machine_device *o = m->device; o < d; o++)
		for (unsigned k = 0; k < o->n_bridges; k++)
			if (machine_bdf_equal(&o->bridge[k], &d->bridge[n]))
				return true;
	return false;
}

static void put_bridge(struct sysfs_tree *t, const struct machine *m,
		       const struct machine_device *d, unsigned n)
{
	const struct machine_pci *p = identity_of(m, &d->bridge[n]);
	unsigned last = last_bus(m, &p->at);
	uint8_t config[CONFIG_BYTES];
	char path[SYSFS_PATH];

	bridge_path(d, n + 1, path);
	sysfs_base(t, "%s", path);
	put_identity(t, m, p, d->numa_node);
	sysfs_write(t, "secondary_bus_number", "%u", below(d, n)->bus);
	sysfs_write(t, "subordinate_bus_number", "%u", last);
	fill_config(p, config);
	config[14] = 1; /* a bridge: bus above, below, last */
	config[24] = p->at.bus;
	config[25] = below(d, n)->bus;
	config[26] = (uint8_t)last;
	sysfs_bytes(t, "config", config, sizeof(config));
	put_function_link(t, path, &p->at);
	put_bus(t, m, path, below(d, n), d->numa_node);
}

static void put_bridges(struct sysfs_tree *t, const struct machine *m,
			const struct machine_device *d)
{
	char path[SYSFS_PATH];

	bridge_path(d, 0, path);
	put_bus(t, m, path, d->n_bridges ? &d->bridge[0] : &d->pci.at, d->numa_node);
	for (unsigned n = 0; n < d->n_bridges; n++)
		if (!is_made(m, d, n))
			put_bridge(t, m, d, n);
}

/* ---- functions ---- */

/* A virtual function leads to its parent, and that to it. */
static void put_sriov(struct sysfs_tree *t, const struct machine *m, const struct machine_device *d)
{
	char bdf[MACHINE_BDF_TEXT], target[2 * SYSFS_PATH], name[32];
	char up[SYSFS_PATH], path[SYSFS_PATH];
	unsigned n = 0;

	for (unsigned i = 0; i < m->n_devices; i++) {
		if (m->device[i].of < 0 || &m->device[m->device[i].of] != d)
			continue;
		snprintf(name, sizeof(name), "virtfn%u", n++);
		snprintf(target, sizeof(target), "../%s",
			 machine_bdf_text(&m->device[i].pci.at, bdf));
		sysfs_link(t, name, target);
	}
	if (d->total_vfs >= 0) {
		sysfs_write(t, "sriov_totalvfs", "%d", d->total_vfs);
		sysfs_write(t, "sriov_numvfs", "%u", n);
	}
	if (d->of < 0)
		return;
	sysfs_device_path(&m->device[d->of], path);
	up_from(t->base + strlen("sys/"), up);
	snprintf(target, sizeof(target), "%s%.200s", up, path + strlen("sys/devices/"));
	sysfs_link(t, "physfn", target);
}

static void put_driver(struct sysfs_tree *t, const struct machine_device *d)
{
	char path[SYSFS_PATH], up[SYSFS_PATH], target[SYSFS_PATH + 64];

	if (!d->driver[0])
		return;
	snprintf(path, sizeof(path), "%s", t->base);
	up_from(path, up);
	snprintf(target, sizeof(target), "%sbus/pci/drivers/%s", up, d->driver);
	sysfs_link(t, "driver", target);
	sysfs_base(t, "sys/bus/pci/drivers");
	sysfs_folder(t, d->driver);
	sysfs_base(t, "%s", path);
}

/* The function of one device; that of a device on no bus is none. */
static void make_function(struct sysfs_tree *t, const struct machine *m,
			  const struct machine_device *d)
{
	uint8_t config[CONFIG_BYTES];
	char path[SYSFS_PATH];

	if (d->is_virtual)
		return;
	put_bridges(t, m, d);
	sysfs_device_path(d, path);
	sysfs_base(t, "%s", path);
	put_identity(t, m, &d->pci, d->numa_node);
	fill_config(&d->pci, config);
	store16(config + 0x2c, d->pci.subsystem_vendor);
	store16(config + 0x2e, d->pci.subsystem_device);
	sysfs_bytes(t, "config", config, sizeof(config));
	put_sriov(t, m, d);
	put_driver(t, d);
	put_function_link(t, path, &d->pci.at);
}

/* ---- network interfaces ---- */

static void put_net_address(struct sysfs_tree *t, const struct sysfs_net *net)
{
	unsigned n = net->infiniband ? 20 : 6;
	char text[3 * 20 + 1];

	for (unsigned i = 0; i < n; i++)
		snprintf(text + 3 * i, sizeof(text) - 3 * i, "%02x%s", net->address[i],
			 i + 1 < n ? ":" : "");
	sysfs_write(t, "address", "%s", text);
	sysfs_write(t, "addr_len", "%u", n);
	sysfs_write(t, "type", net->infiniband ? "32" : "1");
}

void sysfs_net_make(struct sysfs_tree *t, const struct machine_device *d,
		    const struct sysfs_net *net)
{
	char path[SYSFS_PATH], target[2 * SYSFS_PATH];

	sysfs_device_path(d, path);
	sysfs_base(t, "%.200s/net/%s", path, net->name);
	put_net_address(t, net);
	sysfs_write(t, "dev_id", "0x0");
	sysfs_write(t, "dev_port", "%u", net->port);
	sysfs_write(t, "ifindex", "%u", net->index);
	sysfs_write(t, "carrier", "%d", net->up);
	sysfs_write(t, "operstate", net->up ? "up" : "down");
	sysfs_write(t, "carrier_changes", "%d", net->up);
	sysfs_write(t, "flags", "0x1003");
	sysfs_write(t, "mtu", "%u", net->mtu);
	sysfs_write(t, "speed", "%u", net->mbit);
	if (!d->is_virtual)
		sysfs_link(t, "device", "../..");
	sysfs_base(t, "sys/class/net");
	snprintf(target, sizeof(target), "../../%s/net/%s", path + strlen("sys/"), net->name);
	sysfs_link_over(t, net->name, target);
}

void sysfs_net_carrier(struct sysfs_tree *t, const struct machine_device *d, const char *name,
		       bool up)
{
	char path[SYSFS_PATH];
	char changes[16];

	sysfs_device_path(d, path);
	sysfs_base(t, "%.200s/net/%s", path, name);
	if (sysfs_number(t, "carrier") == up)
		return;
	snprintf(changes, sizeof(changes), "%u", sysfs_number(t, "carrier_changes") + 1);
	sysfs_replace(t, "carrier", up ? "1" : "0");
	sysfs_replace(t, "operstate", up ? "up" : "down");
	sysfs_replace(t, "carrier_changes", changes);
}

/* ---- the host's own ---- */

/* Links by the names that lead to what is there, unless one of ours has the name. */
static void put_host(struct sysfs_tree *t, const char *folder)
{
	char path[PATH_MAX], real[PATH_MAX];
	DIR *d = opendir(folder);

	sysfs_base(t, "%s", folder + 1);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		if (realpath(path, real))
			sysfs_link_beside(t, e->d_name, real);
	}
	if (d)
		closedir(d);
}

void sysfs_machine_make(struct sysfs_tree *t, const struct machine *m)
{
	for (unsigned i = 0; i < m->n_devices; i++)
		make_function(t, m, &m->device[i]);
	put_host(t, "/sys/bus/pci/devices");
	put_host(t, "/sys/class/pci_bus");
	put_host(t, "/sys/class/net");
	sysfs_numa_make(t, m);
}
