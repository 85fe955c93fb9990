/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens to the adapters of a fleet: links that flap, addresses that move, adapters that
 * vanish and come back. Actions of rules, for fault_device_action.c; and what they leave for later.
 */
#ifndef IO_FAULT_FLEET_H
#define IO_FAULT_FLEET_H

#include "emu/io/device/devices.h"
#include "faults.h"

/* Commands of a device that hangs take so long, unless the rule says another time. */
#define IO_FAULT_COMMAND_NS UINT64_C(20000000000)

typedef void io_fault_device_action_fn(struct io_faults *f, const struct io_fault_pending *p,
				       uint64_t now);
/* One of them; what it has no need of may go unused. */
#define IO_FAULT_HAPPENING(name)                                                                   \
	void name(__attribute__((unused)) struct io_faults *f, const struct io_fault_pending *p,   \
		  __attribute__((unused)) uint64_t now)

/* fault_port.c */
io_fault_device_action_fn io_fault_port_down, io_fault_port_flap, io_fault_port_speed,
	io_fault_port_mtu, io_fault_port_pkey;
/* fault_gid.c */
io_fault_device_action_fn io_fault_gid_change, io_fault_gid_empty, io_fault_gid_add,
	io_fault_gid_move;
/* fault_plug.c */
io_fault_device_action_fn io_fault_unplug, io_fault_reset, io_fault_hang;
/* fault_network.c: to links, switches and hosts */
io_fault_device_action_fn io_fault_network;

/* The ports of the network's switches ask the rules, where one is of them. */
void io_fault_network_watch(struct io_faults *f);

/* How many links, switches or hosts the rule names. */
unsigned io_fault_parts(const struct io_faults *f, const struct fault_rule *r);

/* Remembers what is to come, unless there is too much already (logged). */
void io_fault_return_later(struct io_faults *f, const struct io_fault_return *r);

/* Its time has come: fault_port.c; those below are of the other files. */
void io_fault_go_on(struct io_faults *f, const struct io_fault_return *r, uint64_t now);
void io_fault_gids_return(struct io_faults *f, struct io_device *dev, uint64_t now);
void io_fault_plug(struct io_faults *f, struct io_device *dev, bool renumber);
void io_fault_wake(struct io_faults *f, const struct io_fault_return *r, uint64_t now);

/* ---- files ---- */

enum io_fault_file_kind {
	IO_FAULT_FILE_LINK, /* state, phys_state */
	IO_FAULT_FILE_LINE, /* one line of ports/1 */
	IO_FAULT_FILE_GID,
	IO_FAULT_FILE_AWAY,
	IO_FAULT_FILE_BACK,
};

struct io_fault_file {
	enum io_fault_file_kind kind;
	bool up;
	char name[32], line[64];
	unsigned index; /* of a GID; number of the uverbs, or UINT_MAX */
	struct io_gid_entry gid;
};

/*
 * Changes files of a device; whoever is told of the change finds them as they are then. 0 or -errno
 * (logged); -ETIMEDOUT: their file system does not answer, and they are changed when it does.
 */
int io_fault_files(struct io_faults *f, const struct io_device *dev,
		   const struct io_fault_file *file);

#endif
