/* SPDX-License-Identifier: BSD-2-Clause */
/* The Ethernet segment of raw packet QPs: delivers each frame to every device. */
#include "ether.h"

unsigned io_ether_send(const struct io_devices *all, struct io_device *from, uint64_t now,
		       unsigned max)
{
	struct core_frame frame;
	unsigned n = 0;

	while (n < max && core_frame_next(from->core, now, all->buf, all->cap, &frame)) {
		for (unsigned i = 0; i < all->n; i++) {
			core_rx_frame(all->at[i]->core, now, &frame);
			all->at[i]->dirty = true;
		}
		n++;
	}
	return n;
}
