/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adapters that vanish, reset themselves or hang. What programs see of the first two is Linux's hot
 * unplug (drivers/infiniband/core/uverbs_main.c, ib_uverbs_remove_one): the device is in no list,
 * who has it open is told DEVICE_FATAL and has lost it for good. One that hangs takes requests into
 * its queues and executes none; commands to its firmware time out (mlx5/core/cmd.c).
 */
#include "emu/io/base/base.h"
#include "emu/io/serve/serve.h"
#include "fault_fleet.h"

#include <limits.h>

static void leave(struct io_faults *f, const struct io_fault_pending *p, uint64_t now,
		  enum io_fault_then then)
{
	struct io_fault_file file = {.kind = IO_FAULT_FILE_AWAY};

	const struct io_fault_return wake = {.dev = p->dev, .serial = p->dev->hangs};

	if (p->dev->away)
		return;
	io_fault_wake(f, &wake, now); /* of a hang nothing is left */
	io_fault_files(f, p->dev, &file);
	p->dev->away = true;
	io_device_shut(p->dev, true);
	f->env.fatal(f->env.user, p->dev);
	io_log(IO_LOG_WARN, "%s: the device is %s", p->dev->id.name,
	       then == IO_FAULT_THEN_BACK ? "reset" : "unplugged");
	if (p->value.number || then == IO_FAULT_THEN_BACK)
		io_fault_return_later(f, &(struct io_fault_return){.dev = p->dev,
								   .at = now + p->value.number,
								   .then = then});
}

IO_FAULT_HAPPENING(io_fault_unplug)
{
	leave(f, p, now, IO_FAULT_THEN_REPLUG);
}

IO_FAULT_HAPPENING(io_fault_reset)
{
	leave(f, p, now, IO_FAULT_THEN_BACK);
}

void io_fault_plug(struct io_faults *f, struct io_device *dev, bool renumber)
{
	struct io_fault_file file = {.kind = IO_FAULT_FILE_BACK, .index = UINT_MAX};

	if (!dev->away)
		return;
	if (renumber)
		file.index = IO_UVERBS_BASE + f->env.devices->n + f->replugs++;
	io_device_shut(dev, false);
	dev->away = false;
	io_fault_files(f, dev, &file);
	io_log(IO_LOG_INFO, "%s: the device is back", dev->id.name);
	/* What was due meanwhile. */
	io_fault_port(f, dev, !f->is_down[dev->id.index]);
	io_fault_gids_return(f, dev, io_clock_now());
}

/* ---- hang ---- */

IO_FAULT_HAPPENING(io_fault_hang)
{
	struct io_device *dev = p->dev;

	if (dev->away)
		return;
	if (!dev->command_ns) {
		f->env.pause(f->env.user, dev, true);
		io_device_shut(dev, true);
		dev->blocked |= IO_BLOCK_HANG;
		core_freeze(dev->core, true, now);
	}
	dev->command_ns = p->value.time ? p->value.time : IO_FAULT_COMMAND_NS;
	dev->hangs++;
	io_log(IO_LOG_WARN, "%s: dev.hang: the device executes no requests", dev->id.name);
	if (p->value.number)
		io_fault_return_later(f, &(struct io_fault_return){.dev = dev,
								   .at = now + p->value.number,
								   .then = IO_FAULT_THEN_WAKE,
								   .serial = dev->hangs});
}

/* A later hang has its own end. */
void io_fault_wake(struct io_faults *f, const struct io_fault_return *r, uint64_t now)
{
	struct io_device *dev = r->dev;

	if (!dev->command_ns || r->serial != dev->hangs)
		return;
	dev->command_ns = 0;
	core_freeze(dev->core, false, now);
	dev->blocked &= (uint8_t)~IO_BLOCK_HANG;
	dev->dirty = true;
	io_device_shut(dev, false);
	f->env.pause(f->env.user, dev, false);
	io_log(IO_LOG_INFO, "%s: dev.hang has ended", dev->id.name);
}
