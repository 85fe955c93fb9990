/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port of a device: link, GID table, and the events whose cause lies outside it. Part of what
 * core.h offers to the shell.
 */
#ifndef CORE_PORT_H
#define CORE_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct core_port_look;
struct device;

/*
 * Takes the port down or up; it is up at first. All clients get PORT_ERR or PORT_ACTIVE when that
 * is a change. A port that is down sends and receives nothing (its packets count as drops), so
 * that peers, and the QPs here, run into their retries.
 */
void core_port_set(struct device *dev, bool up);

/* Is it down, for whatever reason? */
bool core_port_is_down(const struct device *dev);

/* What the port says of itself now; port is 1 or 2. */
const struct core_port_look *core_port_look(const struct device *dev, unsigned port);

/*
 * An event of the port whose cause lies outside the device goes to all clients: LID_CHANGE,
 * PKEY_CHANGE, SM_CHANGE, CLIENT_REREGISTER or GID_CHANGE (UHCA_ABI_EVENT_*). -EINVAL for others.
 */
int core_port_event(struct device *dev, uint32_t type);

#endif
