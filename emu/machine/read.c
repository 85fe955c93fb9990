/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of a machine and its devices. */
#include "read.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool machine_is_name(const char *text)
{
	if (!*text || *text == '.')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._-", *text))
			return false;
	return true;
}

/* ---- PCI ---- */

static void take_bdf(struct reading *r, const json_t *value, struct machine_bdf *out)
{
	const char *text = json_string_value(value);

	if (!text || !machine_bdf_parse(text, out))
		fields_fail(r, "not a PCI address of the form \"0000:18:00.0\"");
}

static void take_place(struct reading *r, const json_t *value, void *into)
{
	struct machine_device *d = into;

	d->is_virtual = json_is_null(value);
	if (!d->is_virtual)
		take_bdf(r, value, &d->pci.at);
}

static void take_bridge_place(struct reading *r, const json_t *value, void *into)
{
	take_bdf(r, value, &((struct machine_pci *)into)->at);
}

static void add_bridge(struct reading *r, const json_t *value, void *into)
{
	struct machine_device *d = into;

	take_bdf(r, value, &d->bridge[d->n_bridges++]);
}

static void take_bridges(struct reading *r, const json_t *value, void *into)
{
	((struct machine_device *)into)->n_bridges = 0;
	fields_list(r, value, MACHINE_BRIDGES, add_bridge, into);
}

/* What a function and a bridge have in common; base leads to their struct machine_pci. */
#define PCI_ROWS(type, base)                                                                       \
	{"vendor", FIELD_NUMBER, FIELD_AT(type, base vendor), .max = 0xffff},                      \
		{"device", FIELD_NUMBER, FIELD_AT(type, base device), .max = 0xffff},              \
		{"subsystem_vendor", FIELD_NUMBER, FIELD_AT(type, base subsystem_vendor),          \
		 .max = 0xffff},                                                                   \
		{"subsystem_device", FIELD_NUMBER, FIELD_AT(type, base subsystem_device),          \
		 .max = 0xffff},                                                                   \
		{"revision", FIELD_NUMBER, FIELD_AT(type, base revision), .max = 0xff},            \
		{"class", FIELD_NUMBER, FIELD_AT(type, base class), .max = 0xffffff},              \
		{"link_speed", FIELD_TEXT, FIELD_AT(type, base link.speed)},                       \
		{"link_width", FIELD_NUMBER, FIELD_AT(type, base link.width), .max = 32},          \
		{"max_link_speed", FIELD_TEXT, FIELD_AT(type, base max_link.speed)},               \
		{"max_link_width", FIELD_NUMBER, FIELD_AT(type, base max_link.width), .max = 32},  \
		{.key = "note", .kind = FIELD_WORDS}, {.key = "source", .kind = FIELD_WORDS},

static const struct field bridge_rows[] = {
	{"pci", FIELD_TAKE, .take = take_bridge_place},
	PCI_ROWS(struct machine_pci, ){0},
};

/* ---- devices ---- */

static void take_port(struct reading *r, const json_t *value, void *into)
{
	struct machine_device *d = into;

	d->n_ports = 1;
	fields_read(r, value, machine_port_rows, &d->port[0]);
}

static void add_port(struct reading *r, const json_t *value, void *into)
{
	struct machine_device *d = into;

	fields_read(r, value, machine_port_rows, &d->port[d->n_ports++]);
}

/* Each begins with what the defaults say of a port. */
static void take_ports(struct reading *r, const json_t *value, void *into)
{
	struct machine_device *d = into;

	d->port[1] = d->port[0];
	d->n_ports = 0;
	fields_list(r, value, MACHINE_PORTS, add_port, into);
	if (d->n_ports == 0)
		fields_fail(r, "a device has one port or two");
}

/* In the order of the numbers that sysfs has for them. */
static const char *const node_types[] = {"profile", "ca",        "switch",      "router", "rnic",
					 "usnic",   "usnic_udp", "unspecified", NULL};

static void take_image_guid(struct reading *r, const json_t *value, void *into)
{
	struct machine_device *d = into;

	d->has_sys_image_guid = true;
	fields_guid(r, value, &d->sys_image_guid);
}

static const struct field device_rows[] = {
	{"name", FIELD_TEXT, FIELD_AT(struct machine_device, name), .ok = machine_is_name,
	 .what = "a name of a device: letters, digits, '.', '_' and '-'"},
	{"pci", FIELD_TAKE, .take = take_place},
	{"bridges", FIELD_TAKE, .take = take_bridges},
	{"numa_node", FIELD_NUMBER, FIELD_AT(struct machine_device, numa_node), .min = -1,
	 .max = 1023},
	{"driver", FIELD_TEXT, FIELD_AT(struct machine_device, driver), .ok = machine_is_name,
	 .what = "a name of a driver"},
	{"node_type", FIELD_CHOICE, FIELD_AT(struct machine_device, node_type),
	 .choices = node_types},
	{"hw_version", FIELD_NUMBER, FIELD_AT(struct machine_device, hw_version), .max = 0xffff},
	{"fw_version", FIELD_TEXT, FIELD_AT(struct machine_device, fw_version)},
	{"hca_type", FIELD_TEXT, FIELD_AT(struct machine_device, hca_type)},
	{"board_id", FIELD_TEXT, FIELD_AT(struct machine_device, board_id)},
	{"node_guid", FIELD_GUID, FIELD_AT(struct machine_device, node_guid)},
	{"sys_image_guid", FIELD_TAKE, .take = take_image_guid},
	{"total_vfs", FIELD_NUMBER, FIELD_AT(struct machine_device, total_vfs), .max = 65535},
	{"parent", FIELD_TEXT, FIELD_AT(struct machine_device, parent), .ok = machine_is_name,
	 .what = "a name of a device"},
	{"port", FIELD_TAKE, .take = take_port},
	{"ports", FIELD_TAKE, .take = take_ports},
	PCI_ROWS(struct machine_device, pci.){0},
};

static const struct machine_device plain_device = {
	.numa_node = MACHINE_NO_NODE,
	.total_vfs = -1,
	.of = -1,
	.n_ports = 1,
	.pci = {.vendor = 0x75ca, .device = 1, .class = 0x020000},
	.hw_version = 1,
	.port = {{.state = 4, .width = 4}},
};

/* ---- the machine ---- */

struct whole {
	struct machine *m;
	const json_t *defaults;
};

static void add_device(struct reading *r, const json_t *value, void *into)
{
	struct whole *w = into;
	struct machine_device *d = &w->m->device[w->m->n_devices++];

	*d = plain_device;
	if (w->defaults) {
		struct machine_step step = r->step[r->depth - 2], at = r->step[r->depth - 1];

		r->depth -= 2;
		fields_enter(r, "defaults", 0);
		fields_read(r, w->defaults, device_rows, d);
		fields_leave(r);
		fields_enter(r, step.key, 0);
		fields_enter(r, NULL, at.index);
	}
	if (!r->failed)
		fields_read(r, value, device_rows, d);
}

static void take_devices(struct reading *r, const json_t *value, void *into)
{
	fields_list(r, value, MACHINE_DEVICES, add_device, into);
}

static void add_bridge_identity(struct reading *r, const json_t *value, void *into)
{
	struct machine *m = ((struct whole *)into)->m;
	struct machine_pci *p = &m->bridge[m->n_bridges++];

	*p = (struct machine_pci){.class = 0x060400};
	fields_read(r, value, bridge_rows, p);
}

static void take_bridge_list(struct reading *r, const json_t *value, void *into)
{
	fields_list(r, value, MACHINE_BRIDGE_IDS, add_bridge_identity, into);
}

static bool is_cpus(const char *text)
{
	return *text && strspn(text, "0123456789,-") == strlen(text);
}

static const struct field node_rows[] = {
	{"node", FIELD_NUMBER, FIELD_AT(struct machine_node, number), .max = 1023},
	{"cpus", FIELD_TEXT, FIELD_AT(struct machine_node, cpus), .ok = is_cpus,
	 .what = "a list of processors of the form \"0-51,104-155\""},
	{.key = "note", .kind = FIELD_WORDS},
	{.key = "source", .kind = FIELD_WORDS},
	{0},
};

static void add_node(struct reading *r, const json_t *value, void *into)
{
	struct machine *m = ((struct whole *)into)->m;
	struct machine_node *n = &m->node[m->n_nodes];

	*n = (struct machine_node){.number = (int)m->n_nodes};
	m->n_nodes++;
	fields_read(r, value, node_rows, n);
}

static void take_nodes(struct reading *r, const json_t *value, void *into)
{
	fields_list(r, value, MACHINE_NODES, add_node, into);
}

static void take_text(struct reading *r, const json_t *value, char *to, size_t size)
{
	const char *text = json_string_value(value);

	if (!text || strlen(text) >= size)
		fields_fail(r, "must be a text of less than %zu characters", size);
	else
		memcpy(to, text, strlen(text) + 1);
}

static void take_description(struct reading *r, const json_t *value, void *into)
{
	struct machine *m = ((struct whole *)into)->m;

	take_text(r, value, m->description, sizeof(m->description));
}

static void take_profile(struct reading *r, const json_t *value, void *into)
{
	struct machine *m = ((struct whole *)into)->m;

	take_text(r, value, m->profile, sizeof(m->profile));
}

/* Read with each device. */
static void take_defaults(struct reading *r, const json_t *value, void *into)
{
	struct machine_device unused = plain_device;

	(void)into;
	fields_read(r, value, device_rows, &unused);
}

static const struct field machine_rows[] = {
	{"description", FIELD_TAKE, .take = take_description},
	{"profile", FIELD_TAKE, .take = take_profile},
	{"numa", FIELD_TAKE, .take = take_nodes},
	{"bridges", FIELD_TAKE, .take = take_bridge_list},
	{"defaults", FIELD_TAKE, .take = take_defaults},
	{"devices", FIELD_TAKE, .take = take_devices},
	{.key = "note", .kind = FIELD_WORDS},
	{.key = "source", .kind = FIELD_WORDS},
	{0},
};

static json_t *parse(struct reading *r)
{
	json_error_t e;
	json_t *root = json_loads(r->text, JSON_REJECT_DUPLICATES, &e);

	if (root)
		return root;
	r->failed = true;
	snprintf(r->error, r->cap, "%s:%d:%d: %s", r->name, e.line, e.column, e.text);
	return NULL;
}

struct machine *machine_read(const char *text, const char *name, char *error, size_t cap)
{
	struct reading r = {.text = text, .name = name, .error = error, .cap = cap};
	struct whole w = {.m = calloc(1, sizeof(*w.m))};
	json_t *root = parse(&r);

	if (root && w.m) {
		w.defaults = json_object_get(root, "defaults");
		fields_read(&r, root, machine_rows, &w);
		if (!r.failed)
			machine_settle(&r, w.m);
	} else if (root) {
		r.failed = true;
		snprintf(error, cap, "out of memory");
	}
	json_decref(root);
	if (!r.failed)
		return w.m;
	free(w.m);
	return NULL;
}

void machine_free(struct machine *m)
{
	free(m);
}
