/* SPDX-License-Identifier: BSD-2-Clause */
/* The GID table of a device, and GIDs of multicast groups: comparison and canonical form. */
#include "gid.h"

#include "device.h"
#include "reason.h"

#include <errno.h>
#include <string.h>

#define MAPPED_PREFIX 12

/* Of RoCE v1 and v2 entries of one GID the one of v2 counts: that is what is on the wire. */
static int find_on_port(const struct device *dev, unsigned port, const uint8_t gid[16])
{
	const struct core_port_look *look = &dev->cfg.look.port[port - 1];
	int found = -1;

	for (unsigned i = 0; i < look->gid_entries; i++) {
		if (memcmp(dev->cfg.gid[(port - 1) * CORE_GID_MOST + i], gid, 16) != 0)
			continue;
		if (!core_gid_is_v1(look, i))
			return (int)i;
		if (found < 0)
			found = (int)i;
	}
	/* What an InfiniBand port is called by IP is its first GID. */
	if (found < 0 && memcmp(look->address, gid, 16) == 0)
		return 0;
	return found;
}

int device_find_gid_of(const struct device *dev, const uint8_t gid[16], unsigned *port)
{
	int found = -1;

	for (*port = 1; *port <= dev->cfg.look.n_ports && !roce_addr_is_zero(gid); ++*port) {
		found = find_on_port(dev, *port, gid);
		if (found >= 0)
			return found;
	}
	*port = 1;
	return found;
}

int device_find_gid(const struct device *dev, const uint8_t gid[16])
{
	unsigned port;

	return device_find_gid_of(dev, gid, &port);
}

int device_check_port(struct device *dev, const char *what, uint32_t port)
{
	if (port >= 1 && port <= dev->cfg.look.n_ports)
		return 0;
	if (dev->cfg.look.n_ports == 1)
		return device_refuse(dev, -EINVAL, "%s %u is not 1: the device has one port", what,
				     port);
	return device_refuse(dev, -EINVAL, "%s %u is not 1 or 2: the device has two ports", what,
			     port);
}

void mcast_canonical(const uint8_t gid[16], uint8_t out[16])
{
	memcpy(out, gid, 16);
	if (gid[0] != 0xff)
		return;
	out[0] = out[1] = 0;
	if (!roce_addr_is_v4(out) || !roce_addr_is_group(out))
		memcpy(out, gid, 2);
}
