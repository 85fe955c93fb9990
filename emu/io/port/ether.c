/* SPDX-License-Identifier: BSD-2-Clause */
/* The Ethernet segment of raw packet QPs: delivers each frame to every device. */
#include "ether.h"

#define WORK 64 /* units of core_rx_frame that cost as much as a frame */

unsigned io_ether_send(const struct io_devices *all, struct io_device *from, uint64_t now,
		       unsigned max)
{
	struct core_frame frame;
	unsigned cost = 0;

	while (cost < max && core_frame_next(from->core, now, all->buf, all->cap, &frame)) {
		unsigned work = 0;

		for (unsigned i = 0; i < all->n; i++) {
			work += core_rx_frame(all->at[i]->core, now, &frame);
			all->at[i]->dirty = true;
		}
		cost += 1 + work / WORK;
	}
	return cost;
}
