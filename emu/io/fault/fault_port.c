/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules do to the port of a device: its link, speed, MTU and P_Key. The files first. On
 * Ethernet a link that goes and comes back changes nothing else: LID_CHANGE, PKEY_CHANGE and
 * CLIENT_REREGISTER are a subnet manager's work, and the GID table follows addresses, not the
 * carrier (Linux, drivers/infiniband/hw/mlx5/main.c and core/roce_gid_mgmt.c).
 */
#include "emu/fault/net/net.h"
#include "emu/io/base/base.h"
#include "fault_box.h"
#include "fault_fleet.h"

#include <errno.h>
#include <stdio.h>

/* ---- files ---- */

static int link_files(struct io_faults *f, const struct io_device *dev, bool up)
{
	struct io_fault_file file = {.kind = IO_FAULT_FILE_LINK, .up = up};

	return io_fault_files(f, dev, &file);
}

/* A line that its file system does not take is another's loss: the device changes all the same. */
static void line(struct io_faults *f, const struct io_device *dev, const char *name,
		 const char *text)
{
	struct io_fault_file file = {.kind = IO_FAULT_FILE_LINE};

	snprintf(file.name, sizeof(file.name), "%s", name);
	snprintf(file.line, sizeof(file.line), "%s", text);
	io_fault_files(f, dev, &file);
}

/* ---- link ---- */

/* What the port says of its speed may follow from its link. */
static void set_link(struct io_faults *f, struct io_device *dev, bool up)
{
	const char *before = core_port_link(dev->core)->text;

	core_port_set(dev->core, up);
	if (core_port_link(dev->core)->text != before && !dev->away)
		line(f, dev, "rate", core_port_link(dev->core)->text);
}

int io_fault_port(struct io_faults *f, struct io_device *dev, bool up)
{
	int error = dev->away ? 0 : link_files(f, dev, up);

	if (error < 0 && error != -ETIMEDOUT)
		return error;
	f->is_down[dev->id.index] = !up;
	set_link(f, dev, up);
	dev->dirty = true;
	io_log(IO_LOG_INFO, "%s: port %s", dev->id.name, up ? "up" : "down");
	return 0;
}

void io_fault_return_later(struct io_faults *f, const struct io_fault_return *r)
{
	if (f->n_returns == IO_FAULT_RETURNS_MAX) {
		io_log(IO_LOG_ERROR,
		       "%s: more than %d timed changes are pending; this one is not undone",
		       r->dev->id.name, IO_FAULT_RETURNS_MAX);
		return;
	}
	f->returns[f->n_returns++] = *r;
	f->armed = true;
}

IO_FAULT_HAPPENING(io_fault_port_down)
{
	if (io_fault_port(f, p->dev, false) == 0 && p->value.number > 0)
		io_fault_return_later(f, &(struct io_fault_return){.dev = p->dev,
								   .at = now + p->value.number,
								   .then = IO_FAULT_THEN_UP});
}

IO_FAULT_HAPPENING(io_fault_port_flap)
{
	const struct fault_value *v = &p->value;

	if (io_fault_port(f, p->dev, false) == 0)
		io_fault_return_later(f, &(struct io_fault_return){.dev = p->dev,
								   .at = now + v->number,
								   .then = IO_FAULT_THEN_UP,
								   .down = v->number,
								   .up = v->number2,
								   .times = v->times - 1});
}

/* The next part of a flap, counted from when this one was due. */
static void flap_on(struct io_faults *f, const struct io_fault_return *r)
{
	struct io_fault_return next = *r;

	next.then = r->then == IO_FAULT_THEN_UP ? IO_FAULT_THEN_DOWN : IO_FAULT_THEN_UP;
	next.at = r->at + (r->then == IO_FAULT_THEN_UP ? r->up : r->down);
	if (r->then == IO_FAULT_THEN_DOWN)
		next.times--;
	else if (r->times == 0)
		return;
	io_fault_return_later(f, &next);
}

void io_fault_go_on(struct io_faults *f, const struct io_fault_return *r, uint64_t now)
{
	switch (r->then) {
	case IO_FAULT_THEN_UP:
	case IO_FAULT_THEN_DOWN:
		io_fault_port(f, r->dev, r->then == IO_FAULT_THEN_UP);
		flap_on(f, r);
		break;
	case IO_FAULT_THEN_GIDS:
		io_fault_gids_return(f, r->dev, now);
		break;
	case IO_FAULT_THEN_BACK:
	case IO_FAULT_THEN_REPLUG:
		io_fault_plug(f, r->dev, r->then == IO_FAULT_THEN_REPLUG);
		break;
	case IO_FAULT_THEN_WAKE:
		io_fault_wake(f, r, now);
		break;
	}
}

/* ---- speed, MTU, partition ---- */

#define UNIT      UINT64_C(100000000) /* of speeds: 0.1 Gb/s */
#define OWN_SPEED UINT64_C(1000)      /* from here on nothing is held back: it is not as fast */

IO_FAULT_HAPPENING(io_fault_port_speed)
{
	const uint64_t speed = p->value.number / UNIT;
	struct io_device *dev = p->dev;
	const char *before = core_port_link(dev->core)->text;

	fault_net_set_speed(dev->net, speed < OWN_SPEED ? p->value.number : 0);
	io_fault_box_update(dev->fault);
	f->armed = true;
	if (speed == core_port_speed(dev->core))
		return;
	io_log(IO_LOG_INFO, "%s: port speed %llu.%llu Gb/s", dev->id.name,
	       (unsigned long long)speed / 10, (unsigned long long)speed % 10);
	core_port_name_speed(dev->core, (uint32_t)speed);
	if (core_port_link(dev->core)->text != before)
		line(f, dev, "rate", core_port_link(dev->core)->text);
	core_port_raise_speed_event(dev->core);
}

IO_FAULT_HAPPENING(io_fault_port_mtu)
{
	const uint32_t mtu = io_address_path_mtu((unsigned)p->value.number);

	if (mtu == 0 || core_port_set_mtu(p->dev->core, mtu) < 0) {
		io_log(IO_LOG_WARN, "%s: an interface MTU of %llu carries no packets of RoCEv2",
		       p->dev->id.name, (unsigned long long)p->value.number);
		return;
	}
	io_log(IO_LOG_INFO, "%s: active_mtu %u", p->dev->id.name, 128u << mtu);
}

IO_FAULT_HAPPENING(io_fault_port_pkey)
{
	char text[8];

	snprintf(text, sizeof(text), "0x%04x", (unsigned)p->value.number & 0xffff);
	line(f, p->dev, "pkeys/0", text);
	io_log(IO_LOG_INFO, "%s: P_Key %s", p->dev->id.name, text);
	core_port_set_pkey(p->dev->core, (uint16_t)p->value.number);
}
