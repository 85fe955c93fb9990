/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port of a device: link, GID table, and the events whose cause lies outside it. Part of what
 * core.h offers to the shell.
 */
#ifndef CORE_PORT_H
#define CORE_PORT_H

#include "emu/core/contract/config.h"

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
/* A speed as verbs and sysfs name it. */
struct core_link {
	uint32_t speed; /* units of 100 Mb/s */
	uint32_t width; /* bits of ibv_port_attr.active_width */
	uint32_t code;  /* the same of active_speed_ex, of one lane */
	const char *text;
};

/* The name of the port's speed: the fastest that it is not below. */
const struct core_link *core_port_link(const struct device *dev);

/* Of all lanes, in units of 100 Mb/s. */
uint32_t core_look_speed(const struct core_port_look *look);

/* The same of port 1 as it is now; 0: not known (ibv_query_port_speed(3)). */
uint32_t core_port_speed(const struct device *dev);

/*
 * The speed that the port says it has, in units of 100 Mb/s; and DEVICE_SPEED_CHANGE, unless the
 * port is down. How fast packets leave is the shell's affair.
 */
void core_port_name_speed(struct device *dev, uint32_t speed);
void core_port_raise_speed_event(struct device *dev);

/*
 * The network carries packets of this size only (enum ibv_mtu): active_mtu, the most of new
 * connections. Longer packets of older ones are dropped, as by an interface whose MTU has become
 * smaller. There is no event of it. -ERANGE: no such size.
 */
int core_port_set_mtu(struct device *dev, uint32_t mtu);

/*
 * The one entry of the P_Key table, 0xffff at first: PKEY_CHANGE where that is a change. All
 * packets but those of connection management carry it, and what comes must be of its partition
 * (10.9.3).
 */
void core_port_set_pkey(struct device *dev, uint16_t pkey);

#define CORE_GID_LOWEST UINT32_MAX

/*
 * An entry of the GID table goes: GID_CHANGE. QPs and address handles that hold it send and hear
 * nothing any more, until they get another. -ENOENT: it is empty, -ERANGE: there is none.
 */
int core_gid_remove(struct device *dev, uint32_t index);

/*
 * An address comes (v1: for RoCE v1), to this index or the lowest that is free, which nothing may
 * hold: GID_CHANGE. Its index; -EEXIST: it is there, -ENOSPC: the place (all places) are taken,
 * -ERANGE.
 */
int core_gid_add(struct device *dev, const uint8_t gid[16], bool v1, uint32_t index);

/* Where core_gid_add would put it, or what it would return. */
int core_gid_place(const struct device *dev, const uint8_t gid[16], bool v1, uint32_t index);

/* The index of an address, or -1. */
int core_gid_index(const struct device *dev, const uint8_t gid[16]);

/* NULL: empty, or no such entry. */
const uint8_t *core_gid_at(const struct device *dev, uint32_t index);

/*
 * An event of the port whose cause lies outside the device goes to all clients: LID_CHANGE,
 * PKEY_CHANGE, SM_CHANGE, CLIENT_REREGISTER or GID_CHANGE (UHCA_ABI_EVENT_*). -EINVAL for others.
 */
int core_port_event(struct device *dev, uint32_t type);

#endif
