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

static void count_add(struct list *l, const char *prefix, const char *name, uint64_t value)
{
	l->at[l->n++] = (struct io_count){prefix, name, value};
}

static void put_core(struct list *l, const struct core_counters *c)
{
	count_add(l, "", "tx_packets", c->tx_packets);
	count_add(l, "", "tx_bytes", c->tx_bytes);
	count_add(l, "", "rx_packets", c->rx_packets);
	count_add(l, "", "rx_bytes", c->rx_bytes);
	for (unsigned i = 0; i < CORE_DROP_COUNT; i++)
		count_add(l, "drop_", core_drop_name((enum core_drop)i), c->drops[i]);
	count_add(l, "", "naks_sent", c->naks_sent);
	count_add(l, "", "naks_received", c->naks_received);
	count_add(l, "", "rnr_sent", c->rnr_sent);
	count_add(l, "", "rnr_received", c->rnr_received);
	count_add(l, "", "cnps_received", c->cnps_received);
	count_add(l, "", "rp_cnp_handled", c->cnps_handled);
	count_add(l, "", "rp_cnp_ignored", c->cnps_received - c->cnps_handled);
	count_add(l, "", "np_ecn_marked_roce_packets", c->ecn_marked);
	count_add(l, "", "np_cnp_sent", c->cnps_sent);
	count_add(l, "", "out_of_sequence", c->sequence_errors);
	count_add(l, "", "timeouts", c->timeouts);
	count_add(l, "", "retransmits", c->retransmits);
	count_add(l, "", "duplicates", c->duplicates);
	count_add(l, "", "completions", c->completions);
	count_add(l, "", "errors", c->errors);
	count_add(l, "", "link_downed", c->link_downed);
}

const struct io_udp *io_counts_udp(const struct io_device *dev)
{
	static const struct io_udp none;

	return dev->udp ? dev->udp : &none;
}

static void put_wire(struct list *l, const struct io_device *dev)
{
	const struct io_udp *udp = io_counts_udp(dev);

	count_add(l, "", "bad_icrc", dev->bad_icrc + udp->rx.counters.bad_icrc);
	count_add(l, "", "loopback_packets", dev->loopback->delivered);
	count_add(l, "", "no_route", dev->loopback->no_route);
	count_add(l, "udp_", "tx_packets", udp->counters.tx_packets);
	count_add(l, "udp_", "tx_errors", udp->counters.tx_errors);
	count_add(l, "udp_", "tx_full", udp->counters.tx_full);
	count_add(l, "udp_", "rx_packets", udp->rx.counters.packets);
	count_add(l, "udp_", "rx_buffers", udp->rx.counters.buffers);
	count_add(l, "udp_", "rx_bursts", udp->rx.counters.bursts);
	count_add(l, "udp_", "rx_bad_icrc", udp->rx.counters.bad_icrc);
	count_add(l, "udp_", "rx_malformed", udp->rx.counters.malformed);
	count_add(l, "udp_", "rx_overflow", udp->rx.counters.overflow);
}

static void put_faults(struct list *l, const struct fault_net_counters *c)
{
	count_add(l, "fault_", "dropped", c->dropped);
	count_add(l, "fault_", "malformed", c->malformed);
	count_add(l, "fault_", "copies", c->copies);
	count_add(l, "fault_", "made", c->made);
	count_add(l, "fault_", "overflowed", c->overflowed);
	count_add(l, "fault_", "full", c->full);
	count_add(l, "fault_", "unfit", c->unfit);
}

unsigned io_counts(const struct io_device *dev, struct io_count out[IO_COUNTS])
{
	struct list l = {.at = out};

	put_core(&l, core_counters(dev->core));
	put_wire(&l, dev);
	put_faults(&l, fault_net_counters(dev->net));
	return l.n;
}
