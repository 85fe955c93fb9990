/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The modelled network for uhcactl: how it is, what fails in it, the way of a queue pair, and
 * captures at its ports. Rows of its ports: ctl_table.c.
 */
#include "ctl_handler.h"
#include "emu/abi/ctl.h"
#include "emu/fabric/file/file.h"
#include "emu/io/base/base.h"
#include "emu/io/network/network.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how it is ---- */

static json_t *dropped(const struct fabric_counters *c)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < FABRIC_DROPS; i++)
		json_object_set_new(all, fabric_drop_name((enum fabric_drop)i),
				    json_integer((json_int_t)c->dropped[i]));
	return all;
}

static json_t *state(const struct io_network *n)
{
	struct fabric_counters c;

	fabric_count(n->fabric, n->time, &c);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
			 "network", n->name, "scale", (json_int_t)n->scale, "rate_mbps",
			 (json_int_t)(fabric_topology_host_rate(n->topology) / 1000000), "time_ns",
			 (json_int_t)(n->time / 1000), "behind_us",
			 (json_int_t)(n->behind / IO_USEC), "hops", (json_int_t)c.hops, "delivered",
			 (json_int_t)c.delivered, "marked", (json_int_t)c.marked, "xoff",
			 (json_int_t)c.xoff, "xon", (json_int_t)c.xon, "paused_us",
			 (json_int_t)(c.paused / FABRIC_US), "storms", (json_int_t)c.storms,
			 "deadlocks", (json_int_t)c.deadlocks, "dropped", dropped(&c));
}

/* ---- what fails ---- */

static json_t *fail(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *text = io_ctl_text(request, UHCA_CTL_TEXT);
	struct io_network_change c = {.last = 0};
	struct fabric_error e;

	if (!text)
		return io_ctl_refuse(o, "fabric fail needs \"%s\"", UHCA_CTL_TEXT);
	if (fabric_failure_read(&c.failure, text, text, h->network->topology, &e) < 0) {
		o->column = e.column;
		return io_ctl_refuse(o, "%s", e.text);
	}
	if (io_network_change(h->network, &c, io_clock_now()) < 0)
		return io_ctl_refuse(o, "no memory for other routes");
	io_log(IO_LOG_INFO, "network: %s", text);
	return state(h->network);
}

/* ---- ways ---- */

static json_t *way(const struct io_network *n, const struct roce_flow *flow)
{
	const uint32_t most = fabric_path_max(n->topology);
	uint32_t *links = calloc(most, sizeof(*links));
	const unsigned used = links ? io_network_path(n, flow, links, most) : 0;
	uint32_t node = UINT32_MAX;
	json_t *ports = json_array();

	/* Each link from the end at which the flow is; it begins at a host. */
	for (unsigned i = 0; i < used; i++) {
		const uint32_t *end = n->topology->links[links[i]].end;
		const unsigned from =
			i == 0 ? n->topology->nodes[end[0]].is_switch : end[0] != node;
		char name[IO_NETWORK_PORT_NAME];

		io_network_port_name(n, fabric_link_port(links[i], from), name);
		json_array_append_new(ports, json_string(name));
		node = end[1 - from];
		if (i + 1 < used)
			continue;
		json_array_append_new(ports, json_string(n->topology->nodes[node].name));
	}
	free(links);
	return ports;
}

static json_t *path(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const json_t *number = json_object_get(request, UHCA_CTL_NUMBER);
	const char *device = io_ctl_text(request, UHCA_CTL_DEVICE);
	const uint32_t qpn = (uint32_t)json_integer_value(number);
	json_t *all = json_array();

	for (unsigned i = 0; i < h->devices->n; i++) {
		const struct io_device *dev = h->devices->at[i];
		struct core_qp_look look;

		if ((device && strcmp(device, dev->id.name) != 0) ||
		    !core_look_at_qp(dev->core, qpn, &look))
			continue;
		json_array_append_new(all, json_pack("{s:s, s:I, s:I, s:o}", UHCA_CTL_DEVICE,
						     dev->id.name, "qpn", (json_int_t)qpn, "sport",
						     (json_int_t)look.flow->sport, "path",
						     way(h->network, look.flow)));
	}
	if (json_array_size(all))
		return all;
	json_decref(all);
	return io_ctl_refuse(o, "no device has a queue pair 0x%06x", qpn);
}

json_t *io_ctl_fabric(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *action = io_ctl_text(request, UHCA_CTL_ACTION);
	static const char *const actions[] = {"fail", "path", NULL};

	if (!h->network)
		return io_ctl_refuse(o, "there is no modelled network: uhca-run --fabric");
	if (!action)
		return state(h->network);
	if (strcmp(action, actions[0]) == 0)
		return fail(h, request, o);
	if (strcmp(action, actions[1]) == 0)
		return path(h, request, o);
	return io_ctl_no_such(o, "fabric action", action, words_at, actions);
}

/* ---- captures ---- */

static int interface_of(struct io_capture *c, const char *name)
{
	for (unsigned i = 0; i < c->n_interfaces; i++)
		if (strncmp(c->interface[i], name, sizeof(c->interface[i]) - 1) == 0)
			return (int)i;
	if (c->n_interfaces == IO_CAPTURE_INTERFACES)
		return -1;
	return (int)io_capture_add_interface(c, name);
}

static bool seen(const struct io_network_tap *tap, const struct core_burst *t, bool out)
{
	struct io_capture *c = tap->user;
	const struct io_capture_burst b = {.burst = t,
					   .interface = tap->interface,
					   .flags = out ? IO_PCAPNG_OUTBOUND : IO_PCAPNG_INBOUND,
					   .wall = io_clock_wall()};

	if (!io_capture_running(c) || c->only != (int)tap->interface)
		return false;
	io_capture_put(c, &b);
	return true;
}

bool io_ctl_fabric_capture(const struct io_services *h, const char *port, int *interface)
{
	struct io_capture *c = h->tracer->capture;
	const int64_t number = h->network ? io_network_port(h->network, port) : -ENOENT;
	struct io_network_tap tap = {.seen = seen, .user = c, .port = (uint32_t)number};

	if (number < 0 || io_capture_running(c))
		return false;
	*interface = interface_of(c, port);
	if (*interface < 0)
		return false;
	tap.interface = (unsigned)*interface;
	io_network_look(h->network, &tap);
	return true;
}
