/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses that leave the GID table of a device and come back (core/gid_change.c). The sockets of
 * the device stay: what comes for an address that is not in the table is dropped.
 */
#include "emu/io/base/base.h"
#include "fault_fleet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

IO_FAULT_HAPPENING(io_fault_gid_change)
{
	core_port_event(p->dev->core, UHCA_ABI_EVENT_GID_CHANGE);
}

static void log_gid(const struct io_device *dev, const uint8_t gid[16], const char *what)
{
	char text[IO_ADDRESS_TEXT];

	io_log(IO_LOG_INFO, "%s: GID %s %s", dev->id.name, io_address_format(gid, text), what);
}

static struct io_lost_gid *place_for(struct io_device *dev)
{
	for (unsigned i = 0; i < IO_LOST_GIDS; i++)
		if (!dev->lost_gid[i].is_lost)
			return &dev->lost_gid[i];
	return NULL;
}

/* What the files of an entry say beside its GID. */
static void describe(const struct io_device *dev, unsigned index, struct io_gid_entry *e)
{
	const struct machine_device *described = dev->id.machine_device;
	const struct machine_port *p = described ? &described->port[0] : NULL;
	const bool roce = !p || (!p->infiniband && !p->unspecified);
	const bool v1 = !roce || core_gid_is_v1(core_port_look(dev->core, 1), index);

	*e = (struct io_gid_entry){.gid = {0}};
	snprintf(e->type, sizeof(e->type), "%s", v1 ? "IB/RoCE v1" : "RoCE v2");
	if (roce)
		snprintf(e->ndev, sizeof(e->ndev), "%s", p ? p->netdev : dev->id.netdev);
}

/* What its files say is kept for its return. NULL: there is none. */
static struct io_lost_gid *lose(struct io_faults *f, struct io_device *dev, unsigned index)
{
	const struct io_fault_file file = {.kind = IO_FAULT_FILE_GID, .index = index};
	const uint8_t *gid = core_gid_at(dev->core, index);
	struct io_lost_gid *lost = gid ? place_for(dev) : NULL;

	if (!lost)
		return NULL;
	describe(dev, index, &lost->entry);
	memcpy(lost->entry.gid, gid, sizeof(lost->entry.gid));
	lost->is_lost = true;
	lost->due = UINT64_MAX;
	io_fault_files(f, dev, &file);
	core_gid_remove(dev->core, index);
	return lost;
}

/* The files first, for which the place must be known before. */
static bool come_back(struct io_faults *f, struct io_device *dev, struct io_lost_gid *lost,
		      uint32_t index)
{
	struct io_fault_file file = {.kind = IO_FAULT_FILE_GID, .gid = lost->entry};
	const bool v1 = strcmp(lost->entry.type, "RoCE v2") != 0;
	int place = core_gid_place(dev->core, lost->entry.gid, v1, index);

	if (place < 0) {
		io_log(IO_LOG_WARN, "%s: the GID cannot return to the table: %s", dev->id.name,
		       place == -ENOSPC ? "its entry is taken, or the table is full"
					: strerror(-place));
		return false;
	}
	file.index = (unsigned)place;
	io_fault_files(f, dev, &file);
	core_gid_add(dev->core, lost->entry.gid, v1, (uint32_t)place);
	lost->is_lost = false;
	return true;
}

IO_FAULT_HAPPENING(io_fault_gid_empty)
{
	const bool all = p->value.number == FAULT_GID_ALL;
	unsigned n = 0;

	for (unsigned i = 0; i < core_port_look(p->dev->core, 1)->gid_entries; i++) {
		struct io_lost_gid *lost = all || i == p->value.number ? lose(f, p->dev, i) : NULL;

		if (!lost)
			continue;
		n++;
		log_gid(p->dev, lost->entry.gid, "left the table");
		if (p->value.time)
			lost->due = now + p->value.time;
	}
	if (n == 0)
		io_log(IO_LOG_WARN, "%s: gid.empty: the entry is already empty", p->dev->id.name);
	else if (p->value.time)
		io_fault_return_later(f, &(struct io_fault_return){.dev = p->dev,
								   .at = now + p->value.time,
								   .then = IO_FAULT_THEN_GIDS});
}

static void bring_back(struct io_faults *f, struct io_device *dev, struct io_lost_gid *lost)
{
	if (come_back(f, dev, lost, CORE_GID_LOWEST))
		log_gid(dev, lost->entry.gid, "came back");
}

void io_fault_gids_return(struct io_faults *f, struct io_device *dev, uint64_t now)
{
	for (unsigned i = 0; i < IO_LOST_GIDS && !dev->away; i++)
		if (dev->lost_gid[i].is_lost && dev->lost_gid[i].due <= now)
			bring_back(f, dev, &dev->lost_gid[i]);
}

IO_FAULT_HAPPENING(io_fault_gid_add)
{
	const bool all = p->value.number == FAULT_GID_ALL;
	unsigned n = 0;

	for (unsigned i = 0; i < IO_LOST_GIDS; i++) {
		struct io_lost_gid *lost = &p->dev->lost_gid[i];

		if (!lost->is_lost || (!all && memcmp(lost->entry.gid, p->value.gid, 16) != 0))
			continue;
		bring_back(f, p->dev, lost);
		n++;
	}
	if (n == 0)
		io_log(IO_LOG_WARN,
		       "%s: gid.add: no rule took this address from the table; a device has only "
		       "the addresses of its start",
		       p->dev->id.name);
}

/* Two changes, and an event for each, as when an address is deleted and added. */
IO_FAULT_HAPPENING(io_fault_gid_move)
{
	const uint8_t *taken = core_gid_at(p->dev->core, (uint32_t)p->value.number2);
	const uint32_t entries = core_port_look(p->dev->core, 1)->gid_entries;
	struct io_lost_gid *lost;

	if (taken) {
		io_log(IO_LOG_WARN, "%s: gid.move: the other entry is not empty", p->dev->id.name);
		return;
	}
	if (p->value.number >= entries || p->value.number2 >= entries) {
		io_log(IO_LOG_WARN, "%s: gid.move: the table has %u entries", p->dev->id.name,
		       entries);
		return;
	}
	lost = lose(f, p->dev, (unsigned)p->value.number);
	if (!lost)
		io_log(IO_LOG_WARN, "%s: gid.move: the entry is empty", p->dev->id.name);
	else if (come_back(f, p->dev, lost, (uint32_t)p->value.number2))
		log_gid(p->dev, lost->entry.gid, "moved");
	else
		bring_back(f, p->dev, lost);
}
