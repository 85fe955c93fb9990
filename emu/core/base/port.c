/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port as its surroundings see it (IBTA vol. 1, 11.6.3.2 and 11.6.3.3, unaffiliated events):
 * link up and down, the GID table, and events that somebody outside this device is the cause of.
 * What a port that is down does to packets stands in transmit.c and receive.c.
 */
#include "async_event.h"
#include "client.h"

#include <errno.h>
#include <string.h>

#define PORT         1
#define STATE_ACTIVE 4
#define PHYS_LINK_UP 5

void port_tell_all(struct device *dev, uint32_t type)
{
	const struct uhca_abi_async_event event = {.element = PORT, .type = type};

	device_trace(dev, CORE_TRACE_EVENT, 0, type, 0);
	for (struct list *l = dev->clients.next; l != &dev->clients; l = l->next)
		dev->ops->async_event(list_entry(l, struct client, link)->cookie, &event);
}

void core_port_set(struct device *dev, bool up)
{
	if (dev->port_down == !up)
		return;
	dev->port_down = !up;
	if (up) {
		dev->cfg.look.port[0].state = STATE_ACTIVE;
		dev->cfg.look.port[0].phys_state = PHYS_LINK_UP;
	}
	dev->counters.link_downed += !up;
	port_tell_all(dev, up ? UHCA_ABI_EVENT_PORT_ACTIVE : UHCA_ABI_EVENT_PORT_ERR);
}

bool core_port_is_down(const struct device *dev)
{
	return dev->port_down;
}

const struct core_port_look *core_port_look(const struct device *dev, unsigned port)
{
	return &dev->cfg.look.port[port - 1];
}

int core_port_event(struct device *dev, uint32_t type)
{
	switch (type) {
	case UHCA_ABI_EVENT_LID_CHANGE:
	case UHCA_ABI_EVENT_PKEY_CHANGE:
	case UHCA_ABI_EVENT_SM_CHANGE:
	case UHCA_ABI_EVENT_CLIENT_REREGISTER:
	case UHCA_ABI_EVENT_GID_CHANGE:
		port_tell_all(dev, type);
		return 0;
	}
	return -EINVAL;
}
