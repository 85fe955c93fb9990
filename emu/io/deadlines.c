/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See deadlines.h. With --wire the device that asks and the one that answers may both be here: what
 * lies in the sockets, or was taken out of them a moment ago, may be the request, whose answer goes
 * through the sockets, too. So they are emptied, the answers sent, and the sockets emptied again.
 * All of it is bounded, by what the sockets hold and by the number of QPs: a flood delays a
 * deadline, and does not suspend it.
 */
#include "deadlines.h"

#include "daemon.h"
#include "emu/io/network/network.h"

static bool somebody_gives_up(const struct io_daemon *d, uint64_t now)
{
	bool any = false;

	for (unsigned i = 0; i < d->devices.n; i++)
		any |= core_gives_up(d->ports[i].dev.core, now);
	return any;
}

static void drain(struct io_daemon *d, uint64_t now)
{
	for (unsigned i = 0; i < d->devices.n; i++)
		io_udp_drain(&d->ports[i].udp, now);
}

static void take_what_came(struct io_daemon *d, uint64_t now)
{
	drain(d, now);
	for (unsigned i = 0; i < d->devices.n; i++)
		io_device_answer(&d->ports[i].dev, now, d->devices.buf, d->devices.cap);
	drain(d, now);
}

static bool run_device(struct io_device *dev, uint64_t now)
{
	if (core_next_deadline(dev->core) > now)
		return false;
	core_tick(dev->core, now);
	dev->dirty = true;
	return true;
}

bool io_deadlines_run(struct io_daemon *d, uint64_t now)
{
	bool work = false;

	if (d->faults.armed && io_faults_deadline(&d->faults) <= now) {
		io_faults_tick(&d->faults, now);
		work = true;
	}
	if (d->network)
		work |= io_network_run(d->network, now);
	if (somebody_gives_up(d, now))
		take_what_came(d, now);
	for (unsigned i = 0; i < d->devices.n; i++)
		work |= run_device(&d->ports[i].dev, now);
	return work;
}

uint64_t io_deadlines_next(const struct io_daemon *d)
{
	uint64_t next = io_faults_deadline(&d->faults);
	uint64_t dump = io_tracer_deadline(&d->tracer);

	if (dump < next)
		next = dump;
	if (d->network && io_network_next(d->network) < next)
		next = io_network_next(d->network);
	for (unsigned i = 0; i < d->devices.n; i++) {
		uint64_t at = core_next_deadline(d->ports[i].dev.core);

		if (at < next)
			next = at;
	}
	return next;
}
