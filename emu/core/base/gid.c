/* SPDX-License-Identifier: BSD-2-Clause */
/* The GID table of a device, and GIDs of multicast groups: comparison and canonical form. */
#include "gid.h"

#include "device.h"

#include <string.h>

#define MAPPED_PREFIX 12

int device_find_gid(const struct device *dev, const uint8_t gid[16])
{
	static const uint8_t none[16];
	if (!memcmp(gid, none, sizeof(none)))
		return -1;
	for (int i = 0; i < CORE_GID_TABLE; i++)
		if (!memcmp(dev->cfg.gid[i], gid, 16))
			return i;
	return -1;
}

static bool v4_group(const uint8_t gid[16])
{
	return (gid[MAPPED_PREFIX] & 0xf0) == 0xe0;
}

bool mcast_gid(const uint8_t gid[16])
{
	return gid[0] == 0xff || (roce_addr_is_v4(gid) && v4_group(gid));
}

void mcast_canonical(const uint8_t gid[16], uint8_t out[16])
{
	memcpy(out, gid, 16);
	if (gid[0] != 0xff)
		return;
	out[0] = out[1] = 0;
	if (!roce_addr_is_v4(out) || !v4_group(out))
		memcpy(out, gid, 2);
}
