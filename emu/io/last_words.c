/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends the CM messages that remain when the daemon ends. */
#include "last_words.h"

#include "emu/io/base/base.h"
#include "emu/io/device/devices.h"
#include "emu/io/net/udp.h"

#define TIME_LIMIT (100 * IO_MSEC)
#define BURSTS     100

/* The wire has room, or gets it in time. */
static bool may_send(const struct io_device *dev, uint64_t now, uint64_t end)
{
	if (dev->blocked & ~IO_BLOCK_WIRE)
		return false;
	return !dev->blocked || (now < end && dev->udp && io_udp_wait(dev->udp, end - now));
}

static void send_all(const struct io_devices *all, struct io_device *dev)
{
	uint64_t now = io_clock_now(), end = now + TIME_LIMIT;

	dev->dirty = true;
	while (dev->dirty && now < end && may_send(dev, now, end)) {
		io_device_send(dev, now, all->buf, all->cap, BURSTS);
		now = io_clock_now();
	}
}

void io_last_words(const struct io_devices *all)
{
	for (unsigned i = 0; i < all->n && all->buf; i++)
		send_all(all, all->at[i]);
}
