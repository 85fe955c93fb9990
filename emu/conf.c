/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See conf.h. Options are long ones only, "--name value" or "--name=value"; there are no other
 * arguments.
 */
#include "conf.h"

#include "emu/io/base/base.h"
#include "emu/io/device/devices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Everything as it is without options. */
static void set_defaults(struct conf *c)
{
	*c = (struct conf){
		.io = {.devices = 0,
		       .ready_fd = -1,
		       .gso = true,
		       .icrc = IO_ICRC_LENIENT,
		       .pin = UHCA_ABI_PIN_SAFE},
		.log_level = IO_LOG_INFO,
		.log_target = IO_LOG_FILE,
	};
}

int conf_set(struct conf *c, const char *option, char *error, size_t cap)
{
	char *const argv[] = {(char *)(uintptr_t)option, NULL};
	int used = options_take(conf_page.rows, c, argv, error, cap);

	return used < 0 ? used : 0;
}

static int check_limits(const struct conf *c, char *error, size_t cap)
{
	struct core_config cfg;
	uint64_t least, most;

	if (io_settings_config(&c->io, &cfg) == 0)
		return 0;
	core_config_default(&cfg);
	core_profile_apply(&cfg, c->io.profile);
	for (unsigned i = 0; i < c->io.n_limits; i++) {
		unsigned limit = c->io.limits[i].limit;

		if (core_limit_set(&cfg, limit, c->io.limits[i].value) == 0)
			continue;
		core_limit_range(limit, &least, &most);
		snprintf(error, cap, "--limit: %s=%llu is not in the range %llu to %llu",
			 core_limit_name(limit), (unsigned long long)c->io.limits[i].value,
			 (unsigned long long)least, (unsigned long long)most);
		break;
	}
	return -EINVAL;
}

/* A machine says how many devices there are, and maybe of which kind. */
static int apply_machine(struct conf *c, char *error, size_t cap)
{
	const struct machine *m = c->io.machine;
	char word[MACHINE_NAME + sizeof("--profile=")];
	int status = 0;

	if (!m)
		return 0;
	if (c->io.netdev[0] || (c->io.devices && c->io.devices != m->n_devices)) {
		snprintf(error, cap,
			 "--machine %s has %u device%s: no --netdev, no other --devices", m->name,
			 m->n_devices, m->n_devices == 1 ? "" : "s");
		return -EINVAL;
	}
	if (c->io.first_device) {
		snprintf(error, cap, "--machine %s names its devices: no --first-device", m->name);
		return -EINVAL;
	}
	c->io.devices = m->n_devices;
	if (m->profile[0] && !c->has_profile) {
		snprintf(word, sizeof(word), "--profile=%s", m->profile);
		status = conf_set(c, word, error, cap);
	}
	return status;
}

static const struct machine_device *device_named(const struct machine *m, const char *name)
{
	for (unsigned i = 0; i < m->n_devices; i++)
		if (strcmp(m->device[i].name, name) == 0)
			return &m->device[i];
	return NULL;
}

/* Hosts may have the names of the machine's devices, but each that of its own. */
static int check_hosts(const struct conf *c, char *error, size_t cap)
{
	const struct fabric_topology *t = c->io.fabric;
	const struct machine *m = c->io.machine;

	for (uint32_t i = 0; m && i < t->n_nodes; i++) {
		const struct fabric_node *n = &t->nodes[i];
		const struct machine_device *d = device_named(m, n->name);

		if (!d || (!n->is_switch && d == &m->device[n->index]))
			continue;
		snprintf(error, cap,
			 "--fabric %s: %s %s has the name of device %u of --machine %s, and %s %u: "
			 "devices are hosts in the order of both files",
			 c->io.fabric_name, n->is_switch ? "switch" : "host", n->name,
			 (unsigned)(d - m->device), m->name, n->is_switch ? "is switch" : "is host",
			 n->index);
		return -EINVAL;
	}
	return 0;
}

/* Routes of more take longer to make than a client waits for a daemon. */
#define FABRIC_HOSTS_MAX 16384u

/* A network says how many devices there are, unless something else does. */
static int apply_fabric(struct conf *c, char *error, size_t cap)
{
	const struct fabric_topology *t = c->io.fabric;
	/* From Ethernet header to FCS. */
	const unsigned least = io_address_interface_mtu(1) + IO_ETHERNET;

	if (!t && !c->io.fabric_scale)
		return 0;
	if (!t)
		snprintf(error, cap, "--fabric-scale needs --fabric");
	else if (c->io.wire == IO_WIRE_ALWAYS)
		snprintf(error, cap, "--wire sends packets around the network of --fabric");
	else if (t->n_hosts > FABRIC_HOSTS_MAX)
		snprintf(error, cap,
			 "--fabric %s has %u hosts, and a daemon takes at most %u: uhca-sim "
			 "simulates larger networks",
			 c->io.fabric_name, t->n_hosts, FABRIC_HOSTS_MAX);
	else if (!c->io.devices && t->n_hosts > IO_MAX_DEVICES)
		snprintf(error, cap,
			 "--fabric %s has %u hosts, and a daemon has at most %u devices: give "
			 "--devices",
			 c->io.fabric_name, t->n_hosts, IO_MAX_DEVICES);
	else if (c->io.machine && c->io.devices > t->n_hosts)
		snprintf(error, cap,
			 "--fabric %s has %u hosts, and --machine %s has %u devices: each device "
			 "needs a host",
			 c->io.fabric_name, t->n_hosts, c->io.machine->name, c->io.devices);
	else if (c->io.devices > t->n_hosts)
		snprintf(error, cap, "--fabric %s has %u hosts: there are %u devices",
			 c->io.fabric_name, t->n_hosts, c->io.devices);
	else if (fabric_topology_mtu(t) < least)
		snprintf(error, cap,
			 "--fabric %s has a link that takes packets of %u bytes: devices send %u "
			 "with an MTU of 256",
			 c->io.fabric_name, (unsigned)fabric_topology_mtu(t), least);
	else {
		c->io.devices = c->io.devices ? c->io.devices : t->n_hosts;
		if (!c->io.fabric_scale)
			c->io.fabric_scale = fabric_topology_scale(t);
		return check_hosts(c, error, cap);
	}
	return -EINVAL;
}

/* What only the whole of the options can tell. */
static int complete(struct conf *c, char *error, size_t cap)
{
	if (apply_machine(c, error, cap) < 0 || apply_fabric(c, error, cap) < 0)
		return -EINVAL;
	if (c->io.devices == 0)
		c->io.devices = c->next_device ? c->next_device : 1;
	if (c->io.first_device + c->io.devices > IO_MAX_DEVICES) {
		snprintf(error, cap,
			 "--first-device %u with %u device%s: no device has a number above %u",
			 c->io.first_device, c->io.devices, c->io.devices == 1 ? "" : "s",
			 IO_MAX_DEVICES - 1);
		return -EINVAL;
	}
	if (c->next_device > c->io.devices) {
		snprintf(error, cap, "--addr is given %u times, for %u device%s", c->next_device,
			 c->io.devices, c->io.devices == 1 ? "" : "s");
		return -EINVAL;
	}
	if (!c->io.dir[0] && io_instance_path("default", c->io.dir, sizeof(c->io.dir)) < 0) {
		snprintf(error, cap, "the default directory's name is too long; use --dir");
		return -EINVAL;
	}
	return check_limits(c, error, cap);
}

int conf_parse(struct conf *c, int argc, char *const *argv, char *error, size_t cap)
{
	set_defaults(c);
	for (int i = 1; i < argc;) {
		int used = options_take(conf_page.rows, c, argv + i, error, cap);

		if (used == 0)
			snprintf(error, cap, "unknown option '%s'", argv[i]);
		if (used <= 0)
			return -EINVAL;
		i += used;
	}
	return complete(c, error, cap);
}
