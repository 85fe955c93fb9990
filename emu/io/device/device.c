/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a device: core state, sysfs files and the stack of boxes to the network. */
#include "device.h"

#include "emu/io/base/base.h"
#include "machine_device.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Bytes after which the loop looks who has something urgent: a few microseconds of copying. */
#define LONG_BURST 8192

/* Duplicate address detection takes up to two seconds, unless somebody has set it otherwise. */
#define ADDRESS_WAIT  (5 * IO_SEC)
#define ADDRESS_PAUSE (20 * IO_MSEC)

/* About what a program takes from a completion to its next request. */
#define ACK_DELAY (5 * IO_USEC)

static bool all_can_bind(const struct io_address_list *l)
{
	for (unsigned i = 0; i < l->count; i++)
		if (!io_address_can_bind(&l->a[i]))
			return false;
	return true;
}

/* An interface that has just come up: its IPv6 addresses are tentative for a while. */
static void wait_for_addresses(const char *netdev, const struct io_address_list *l)
{
	const struct timespec pause = {.tv_nsec = ADDRESS_PAUSE};
	uint64_t until = io_clock_now() + ADDRESS_WAIT;

	if (all_can_bind(l))
		return;
	io_log(IO_LOG_INFO, "--netdev %s: waiting for duplicate address detection", netdev);
	while (!all_can_bind(l) && io_clock_now() < until)
		nanosleep(&pause, NULL);
}

/* Goes on with those that work. 0 or -EADDRNOTAVAIL. */
static int drop_unusable(const char *netdev, struct io_address_list *l)
{
	char text[IO_ADDRESS_TEXT];
	unsigned kept = 0;

	for (unsigned i = 0; i < l->count; i++) {
		if (io_address_can_bind(&l->a[i]))
			l->a[kept++] = l->a[i];
		else
			io_log(IO_LOG_WARN,
			       "--netdev %s: address %s is not usable; continuing without it",
			       netdev, io_address_format(l->a[i].gid, text));
	}
	l->count = kept;
	return kept ? 0 : -EADDRNOTAVAIL;
}

static int interface_addresses(const struct io_settings *s, unsigned index,
			       struct io_address_list *out)
{
	int error;

	if (index > 0) {
		io_log(IO_LOG_ERROR,
		       "--netdev gives addresses to the first device only; give device %u its own "
		       "with --addr",
		       index);
		return -EINVAL;
	}
	error = io_address_of_interface(s->netdev, out);
	if (error == 0) {
		wait_for_addresses(s->netdev, out);
		error = drop_unusable(s->netdev, out);
	}
	if (error < 0)
		io_log(IO_LOG_ERROR, "--netdev %s: %s", s->netdev,
		       error == -ENODEV ? "no such network interface"
					: "the interface has no usable address");
	return error;
}

/* The name of the first address's interface, and what all of them carry. */
static void look_at_interfaces(struct io_identity *id)
{
	char name[IF_NAMESIZE];

	id->active_mtu = io_address_path_mtu(UINT_MAX);
	for (unsigned i = 0; i < id->addresses.count; i++) {
		unsigned mtu;

		if (id->addresses.a[i].inside || !io_address_interface(&id->addresses.a[i], name))
			continue;
		if (i == 0 && !id->machine_device)
			memcpy(id->netdev, name, sizeof(name));
		mtu = io_address_mtu(name);
		if (mtu > 0 && io_address_path_mtu(mtu) < id->active_mtu)
			id->active_mtu = io_address_path_mtu(mtu);
	}
}

static void look_at_network(const struct io_settings *s, struct io_identity *id)
{
	const uint64_t longest = s->fabric ? fabric_topology_mtu(s->fabric) : UINT_MAX;
	unsigned mtu;

	if (longest >= UINT_MAX)
		return;
	mtu = io_address_path_mtu(longest > IO_ETHERNET ? (unsigned)longest - IO_ETHERNET : 0);
	if (mtu < id->active_mtu)
		id->active_mtu = mtu;
}

int io_identity_of(const struct io_settings *settings, unsigned index, struct io_identity *out)
{
	int error = 0;

	*out = (struct io_identity){.index = index};
	if (settings->machine) {
		error = io_machine_device_identity(settings, index, out);
		if (error == 0)
			look_at_interfaces(out);
		look_at_network(settings, out);
		return error;
	}
	snprintf(out->name, sizeof(out->name), "uhca%u", settings->first_device + index);
	if (settings->addresses[index].count > 0)
		out->addresses = settings->addresses[index];
	else if (settings->netdev[0])
		error = interface_addresses(settings, index, &out->addresses);
	else
		io_address_default(index, &out->addresses);
	if (error < 0)
		return error;
	out->guid = io_address_guid(&out->addresses.a[0]);
	look_at_interfaces(out);
	look_at_network(settings, out);
	return 0;
}

struct io_device *io_devices_find(const struct io_devices *all, const char *name, size_t cap)
{
	for (unsigned i = 0; i < all->n; i++)
		if (strncmp(all->at[i]->id.name, name, cap) == 0)
			return all->at[i];
	return NULL;
}

/* ---- the device's end of the stack ---- */

static struct io_device *device_of(struct netif *top)
{
	return (struct io_device *)((char *)top - offsetof(struct io_device, top));
}

static void top_send(struct netif *n, const struct core_burst *t, uint64_t now)
{
	netif_send(n->below, t, now);
}

static void top_receive(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct io_device *dev = device_of(n);

	/* As udp_rx.c does with those that come by the wire. */
	if (t->model.bad_icrc) {
		dev->bad_icrc += t->count;
		netif_report_refused(n, t);
		return;
	}
	core_rx(dev->core, now, t);
	dev->dirty = true;
}

static void top_left(struct netif *n, const struct core_burst *t, uint64_t now)
{
	core_tx_left(device_of(n)->core, t, now);
}

static const struct netif_ops top_ops = {
	.send = top_send, .receive = top_receive, .left = top_left};

static void lose(struct netif *n, const struct core_burst *t, uint64_t now)
{
	(void)n;
	(void)t;
	(void)now;
}

static const struct netif_ops shut_ops = {.send = lose, .receive = lose, .left = top_left};

void io_device_shut(struct io_device *dev, bool on)
{
	dev->top.ops = on ? &shut_ops : &top_ops;
}

/* ---- */

static void set_relaxations(const struct io_settings *s, struct core_config *out)
{
	if (s->has_fault_seed)
		out->relaxation_seed = s->fault_seed;
	out->late_bytes_ns = (s->late_writes ? s->late_writes : s->late_bytes) * IO_USEC;
	out->late_writes = s->late_writes > 0;
	out->any_srq_order = s->any_srq_order;
	out->any_grh = s->any_grh;
	out->same_qp_numbers = s->same_qp_numbers;
	out->lazy_acks = s->lazy_acks > 0;
	out->ack_delay_ns = s->lazy_acks > 0 ? s->lazy_acks * IO_USEC : ACK_DELAY;
}

int io_settings_config(const struct io_settings *s, struct core_config *out)
{
	int error;

	core_config_default(out);
	error = core_profile_apply(out, s->profile);
	out->local_inv_early = s->early_local_inv;
	out->strict_arming |= s->strict_arming;
	out->strict_order |= s->strict_order;
	if (s->strict_memory)
		out->gather_limit = 0;
	set_relaxations(s, out);
	if (s->congestion.control.ops)
		out->congestion = s->congestion;
	if (s->fabric) {
		out->burst_bytes = IO_NETWORK_BURST;
		out->congestion.scale = s->fabric_scale;
	}
	for (unsigned i = 0; i < s->n_limits && error == 0; i++)
		error = core_limit_set(out, s->limits[i].limit, s->limits[i].value);
	return error;
}

/* Who is alone with the receiver may find out that there is room for twice as much. */
static void limit_window(struct core_config *cfg, uint32_t bytes)
{
	if (bytes < cfg->window_bytes)
		cfg->window_bytes = bytes;
	if (bytes < cfg->window_most / 2)
		cfg->window_most = 2 * bytes;
}

int io_device_create(struct io_device *dev, const struct core_ops *ops,
		     const struct io_settings *settings, const struct io_identity *id,
		     uint32_t window_bytes)
{
	int error;

	*dev = (struct io_device){.id = *id, .top.ops = &top_ops};
	dev->bottom = &dev->top;
	error = io_settings_config(settings, &dev->config);
	if (error < 0)
		return error;
	dev->config.node_guid = id->guid;
	if (id->active_mtu > 0)
		dev->config.active_mtu = id->active_mtu;
	for (unsigned i = 0; i < id->addresses.count && !id->machine_device; i++)
		memcpy(dev->config.gid[i], id->addresses.a[i].gid, 16);
	if (id->machine_device)
		io_machine_device_config(id, &dev->config);
	dev->id.config = &dev->config;
	dev->id.node_type = dev->config.node_type;
	if (window_bytes > 0)
		limit_window(&dev->config, window_bytes);
	dev->core = core_create(ops, dev, &dev->config);
	if (!dev->core)
		return -ENOMEM;
	core_hooks_set(dev->core, dev->hooks);
	return 0;
}

void io_device_hook(struct io_device *dev, uint32_t mask, uint32_t value)
{
	dev->hooks = (dev->hooks & ~mask) | (value & mask);
	core_hooks_set(dev->core, dev->hooks);
}

void io_device_destroy(struct io_device *dev)
{
	if (dev->core)
		core_destroy(dev->core);
	dev->core = NULL;
}

unsigned io_device_send(struct io_device *dev, uint64_t now, uint8_t *buf, size_t cap, unsigned max)
{
	unsigned n = 0;

	while (n < max && !dev->blocked) {
		struct core_burst t;

		if (!core_tx_next(dev->core, now, buf, cap, &t)) {
			dev->dirty = false;
			break;
		}
		netif_send(&dev->top, &t, now);
		n++;
		if (t.length > LONG_BURST || roce_addr_is_group(t.flow.dst))
			break;
	}
	netif_flush(&dev->top);
	return n;
}

void io_device_answer(struct io_device *dev, uint64_t now, uint8_t *buf, size_t cap)
{
	struct core_round round;
	struct core_burst t;

	core_round_begin(dev->core, &round);
	while (!dev->blocked && core_tx_answer(dev->core, now, &round, buf, cap, &t))
		netif_send(&dev->top, &t, now);
	netif_flush(&dev->top);
}

#define COPIES 8 /* of a datagram to a group: they cost as much as one more burst */

static unsigned cost_of(const struct io_devices *all, const struct core_burst *t)
{
	unsigned copies = 0;

	for (unsigned i = 0; roce_addr_is_group(t->flow.dst) && i < all->n; i++)
		copies += core_mcast_members(all->at[i]->core, t->flow.dst);
	return 1 + t->length / 4096 + copies / COPIES;
}

unsigned io_device_send_of(const struct io_devices *all, struct io_device *dev, struct client *of,
			   uint64_t now)
{
	struct core_burst t;

	if (dev->blocked & ~IO_BLOCK_NETWORK || !core_tx_next_of(of, now, all->buf, all->cap, &t))
		return 0;
	netif_send(&dev->top, &t, now);
	return cost_of(all, &t);
}
