/* SPDX-License-Identifier: BSD-2-Clause */
/* See ether.h. */
#include "ether.h"

unsigned io_ether_send(struct io_daemon *d, struct io_device *from, uint64_t now, unsigned max)
{
	struct core_frame frame;
	unsigned n = 0;

	while (n < max && core_frame_next(from->core, now, d->tx_buf, d->tx_cap, &frame)) {
		for (unsigned i = 0; i < d->n_ports; i++) {
			core_rx_frame(d->ports[i].dev.core, now, &frame);
			d->ports[i].dev.dirty = true;
		}
		n++;
	}
	return n;
}
