/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port as its surroundings see it (IBTA vol. 1, 11.6.3.2 and 11.6.3.3, unaffiliated events):
 * link up and down, its speed, MTU and P_Key, and events that somebody outside this device is the
 * cause of. Entries of the GID table come and go in core/gid_change.c. What a port does to packets
 * stands here, and is asked in transmit.c and receive.c.
 */
#include "port.h"

#include "async_event.h"
#include "client.h"
#include "gid.h"

#include <errno.h>

#define PORT         1
#define STATE_ACTIVE 4
#define PHYS_LINK_UP 5
#define MTU_256      1
#define MTU_4096     5

void port_raise_event(struct device *dev, uint32_t type)
{
	/* Linux names no port in this one, of which older libraries know nothing. */
	const bool of_port = type != UHCA_ABI_EVENT_DEVICE_SPEED_CHANGE;
	const struct uhca_abi_async_event event = {.element = of_port ? PORT : 0, .type = type};

	device_trace(dev, CORE_TRACE_EVENT, 0, type, 0);
	for (struct list *l = dev->clients.next; l != &dev->clients; l = l->next)
		dev->ops->async_event(list_entry(l, struct client, link)->cookie, &event);
}

/* ---- speed ---- */

/*
 * How Linux's mlx5 names an Ethernet speed (drivers/infiniband/hw/mlx5/main.c,
 * translate_eth_ext_proto_oper), and how its sysfs prints that (drivers/infiniband/core/sysfs.c,
 * rate_show). Of two names for one speed the one with more lanes stands here.
 */
static const struct core_link links[] = {
	{10, 1, 1, "2.5 Gb/sec (1X SDR)"},     {100, 1, 4, "10 Gb/sec (1X QDR)"},
	{250, 1, 32, "25 Gb/sec (1X EDR)"},    {400, 2, 4, "40 Gb/sec (4X QDR)"},
	{500, 16, 32, "50 Gb/sec (2X EDR)"},   {1000, 2, 32, "100 Gb/sec (4X EDR)"},
	{2000, 2, 64, "200 Gb/sec (4X HDR)"},  {4000, 2, 128, "400 Gb/sec (4X NDR)"},
	{8000, 2, 256, "800 Gb/sec (4X XDR)"}, {16000, 4, 256, "1600 Gb/sec (8X XDR)"},
};
#define LINKS        (sizeof(links) / sizeof(links[0]))
/* mlx5_query_port_roce begins with these, and leaves them where the link has no speed. */
#define LINK_UNKNOWN 3

/* Of a lane, by its bit of active_speed_ex; units of 100 Mb/s (ibv_query_port(3)). */
static uint32_t lane_speed(uint32_t code)
{
	switch (code) {
	case 1: /* SDR */
		return 25;
	case 2: /* DDR */
		return 50;
	case 4: /* QDR */
	case 8: /* FDR10 */
		return 100;
	case 16: /* FDR */
		return 140;
	}
	return code / 32 * 250; /* EDR, HDR, NDR, XDR */
}

static uint32_t lanes_of(uint32_t width)
{
	return width == 1 ? 1 : width == 16 ? 2 : width == 2 ? 4 : width == 4 ? 8 : 12;
}

uint32_t core_look_speed(const struct core_port_look *look)
{
	return lanes_of(look->width) * lane_speed(look->speed);
}

static bool has_no_speed(const struct device *dev)
{
	return dev->port_down && dev->cfg.errors == CORE_ERRORS_MLX5;
}

static uint32_t speed_of(const struct device *dev)
{
	return dev->port_speed ? dev->port_speed : core_look_speed(&dev->cfg.look.port[0]);
}

const struct core_link *core_port_link(const struct device *dev)
{
	const struct core_port_look *look = &dev->cfg.look.port[0];
	unsigned i = LINKS - 1;

	if (has_no_speed(dev))
		return &links[LINK_UNKNOWN];
	while (i > 0 && (links[i].width != look->width || links[i].code != look->speed))
		i--;
	if (i == 0)
		for (i = LINKS - 1; i > 0 && links[i].speed > speed_of(dev);)
			i--;
	return &links[i];
}

uint32_t core_port_speed(const struct device *dev)
{
	return has_no_speed(dev) ? 0 : speed_of(dev);
}

void core_port_name_speed(struct device *dev, uint32_t speed)
{
	struct core_port_look *look = &dev->cfg.look.port[0];
	unsigned i = LINKS - 1;

	while (i > 0 && links[i].speed > speed)
		i--;
	dev->port_speed = speed;
	look->width = links[i].width;
	look->speed = links[i].code;
}

void core_port_raise_speed_event(struct device *dev)
{
	if (!dev->port_down)
		port_raise_event(dev, UHCA_ABI_EVENT_DEVICE_SPEED_CHANGE);
}

/* ---- link, MTU, partition ---- */

void core_port_set(struct device *dev, bool up)
{
	if (dev->port_down == !up)
		return;
	dev->port_down = !up;
	if (up) {
		dev->cfg.look.port[0].state = STATE_ACTIVE;
		dev->cfg.look.port[0].phys_state = PHYS_LINK_UP;
	}
	dev->port_checks = dev->port_down || dev->gid_left || dev->mtu_changed;
	dev->counters.link_downed += !up;
	port_raise_event(dev, up ? UHCA_ABI_EVENT_PORT_ACTIVE : UHCA_ABI_EVENT_PORT_ERR);
}

bool core_port_is_down(const struct device *dev)
{
	return dev->port_down;
}

const struct core_port_look *core_port_look(const struct device *dev, unsigned port)
{
	return &dev->cfg.look.port[port - 1];
}

int core_port_set_mtu(struct device *dev, uint32_t mtu)
{
	if (mtu < MTU_256 || mtu > MTU_4096)
		return -ERANGE;
	dev->cfg.active_mtu = dev->cfg.look.port[0].active_mtu = mtu;
	dev->mtu_changed = dev->port_checks = true;
	return 0;
}

void core_port_set_pkey(struct device *dev, uint16_t pkey)
{
	uint16_t *entry = &dev->cfg.look.port[0].pkey[0];

	if (*entry == pkey)
		return;
	*entry = pkey;
	port_raise_event(dev, UHCA_ABI_EVENT_PKEY_CHANGE);
}

int core_port_event(struct device *dev, uint32_t type)
{
	switch (type) {
	case UHCA_ABI_EVENT_LID_CHANGE:
	case UHCA_ABI_EVENT_PKEY_CHANGE:
	case UHCA_ABI_EVENT_SM_CHANGE:
	case UHCA_ABI_EVENT_CLIENT_REREGISTER:
	case UHCA_ABI_EVENT_GID_CHANGE:
		port_raise_event(dev, type);
		return 0;
	}
	return -EINVAL;
}

/* ---- packets ---- */

static bool refuse(struct device *dev, const struct core_burst *t, enum core_drop why, uint32_t got)
{
	device_because(dev, &CAUSE(PORT, .got = got));
	device_drop(dev, t->head.bth.dest_qp, t, why);
	return true;
}

bool port_refuses(struct device *dev, const struct core_burst *t, const uint8_t own[16])
{
	if (dev->port_down)
		return refuse(dev, t, CORE_DROP_PORT, UHCA_ABI_PORT_DOWN);
	if (dev->gid_left && !roce_addr_is_group(own) && device_find_gid(dev, own) < 0)
		return refuse(dev, t, CORE_DROP_ADDRESS, UHCA_ABI_PORT_NO_GID);
	if (dev->mtu_changed &&
	    (t->count > 1 ? t->segment : t->length) > 128u << dev->cfg.active_mtu)
		return refuse(dev, t, CORE_DROP_LENGTH, UHCA_ABI_PORT_MTU);
	return false;
}
