/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists all counters of a device by name. */
#include "counts.h"

#include "emu/fault/net/net.h"
#include "emu/io/device/devices.h"
#include "emu/io/net/udp.h"
#include "loopback.h"

struct list {
	struct io_count *at;
	unsigned n;
};

static void put(struct list *l, const char *prefix, const char *name, uint64_t value)
{
	l->at[l->n++] = (struct io_count){prefix, name, value};
}

static void put_core(struct list *l, const struct core_counters *c)
{
	put(l, "", "tx_packets", c->tx_packets);
	put(l, "", "tx_bytes", c->tx_bytes);
	put(l, "", "rx_packets", c->rx_packets);
	put(l, "", "rx_bytes", c->rx_bytes);
	for (unsigned i = 0; i < CORE_DROP_COUNT; i++)
		put(l, "drop_", core_drop_name((enum core_drop)i), c->drops[i]);
	put(l, "", "naks_sent", c->naks_sent);
	put(l, "", "naks_received", c->naks_received);
	put(l, "", "rnr_sent", c->rnr_sent);
	put(l, "", "rnr_received", c->rnr_received);
	put(l, "", "cnps_received", c->cnps_received);
	put(l, "", "timeouts", c->timeouts);
	put(l, "", "retransmits", c->retransmits);
	put(l, "", "duplicates", c->duplicates);
	put(l, "", "completions", c->completions);
	put(l, "", "errors", c->errors);
	put(l, "", "link_downed", c->link_downed);
}

const struct io_udp *io_counts_udp(const struct io_device *dev)
{
	static const struct io_udp none;

	return dev->udp ? dev->udp : &none;
}

static void put_wire(struct list *l, const struct io_device *dev)
{
	const struct io_udp *udp = io_counts_udp(dev);

	put(l, "", "bad_icrc", dev->bad_icrc + udp->rx.counters.bad_icrc);
	put(l, "", "loopback_packets", dev->loopback->delivered);
	put(l, "", "no_route", dev->loopback->no_route);
	put(l, "udp_", "tx_packets", udp->counters.tx_packets);
	put(l, "udp_", "tx_errors", udp->counters.tx_errors);
	put(l, "udp_", "tx_full", udp->counters.tx_full);
	put(l, "udp_", "rx_packets", udp->rx.counters.packets);
	put(l, "udp_", "rx_buffers", udp->rx.counters.buffers);
	put(l, "udp_", "rx_bursts", udp->rx.counters.bursts);
	put(l, "udp_", "rx_bad_icrc", udp->rx.counters.bad_icrc);
	put(l, "udp_", "rx_malformed", udp->rx.counters.malformed);
	put(l, "udp_", "rx_overflow", udp->rx.counters.overflow);
}

static void put_faults(struct list *l, const struct fault_net_counters *c)
{
	put(l, "fault_", "dropped", c->dropped);
	put(l, "fault_", "malformed", c->malformed);
	put(l, "fault_", "copies", c->copies);
	put(l, "fault_", "made", c->made);
	put(l, "fault_", "overflowed", c->overflowed);
	put(l, "fault_", "full", c->full);
	put(l, "fault_", "unfit", c->unfit);
}

unsigned io_counts(const struct io_device *dev, struct io_count out[IO_COUNTS])
{
	struct list l = {.at = out};

	put_core(&l, core_counters(dev->core));
	put_wire(&l, dev);
	put_faults(&l, fault_net_counters(dev->net));
	return l.n;
}
