/* SPDX-License-Identifier: BSD-2-Clause */
/* Executes doorbells that were rung before a control message or a disconnect. */
#include "drain_doorbells.h"
#include "clients.h"

#include "emu/io/base/base.h"
#include "emu/io/net/udp.h"
#include "emu/io/port/port.h"

#define SLICE  (1 * IO_MSEC)
#define SHARE  256 /* io_device_send_of: so much also when we had to wait for the processor */
#define FRAMES 256 /* of raw packet queue pairs */

/* What it cost; 0 when there is nothing to send, or no way before the time is over. */
static unsigned send_next(struct io_client *c, uint64_t now, uint64_t end)
{
	struct io_device *dev = c->dev;

	if (dev->blocked & IO_BLOCK_HANG)
		return 0;
	if (dev->blocked & IO_BLOCK_WIRE &&
	    (now >= end || !dev->udp || !io_udp_wait(dev->udp, end - now)))
		return 0;
	return io_device_send_of(c->all->devices, dev, c->core, now);
}

void io_drain_doorbells(struct io_client *c)
{
	unsigned cost, all = 0;
	uint64_t now, end;

	if (!c->core)
		return;
	now = io_clock_now();
	end = now + SLICE;
	io_client_doorbells(c, now);
	io_ether_send(c->all->devices, c->dev, now, FRAMES);
	while ((all < SHARE || now < end) && (cost = send_next(c, now, end))) {
		all += cost;
		now = io_clock_now();
	}
	netif_flush(&c->dev->top);
}
