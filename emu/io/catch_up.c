/* SPDX-License-Identifier: BSD-2-Clause */
#include "catch_up.h"

#include "clock.h"
#include "daemon.h"
#include "ether.h"

#define SLICE  (1 * IO_MSEC)
#define FRAMES 256 /* of raw packet queue pairs */

/* False when there is nothing to send, or no way before the time is over. */
static bool send_next(struct io_client *c, uint64_t now, uint64_t end)
{
	struct io_device *dev = c->dev;

	if (dev->blocked && (!dev->udp || !io_udp_wait(dev->udp, end - now)))
		return false;
	return io_device_send_of(dev, c->core, now, c->daemon->tx_buf, c->daemon->tx_cap);
}

void io_catch_up(struct io_client *c)
{
	uint64_t now, end;

	if (!c->core)
		return;
	now = io_clock_now();
	end = now + SLICE;
	io_client_doorbells(c, now);
	io_ether_send(c->daemon, c->dev, now, FRAMES);
	while (now < end && send_next(c, now, end))
		now = io_clock_now();
	netif_flush(&c->dev->top);
}
