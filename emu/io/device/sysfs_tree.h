/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that make a device visible: what programs look for under /sys/class/infiniband,
 * /sys/class/infiniband_verbs and /dev/infiniband, made under the instance directory, where the
 * preload library sends them. Numbers of uverbs begin at 200, far from those of real ones.
 * libibverbs lists devices as the folder of all uverbs does, in an order that is the file system's:
 * the n-th device is the n-th there, whatever its number. A node is a link to /dev/null, a
 * character device 1:3 that anybody may open.
 */
#ifndef IO_SYSFS_TREE_H
#define IO_SYSFS_TREE_H

#include "emu/core/core.h"
#include "emu/io/base/base.h"
#include "emu/machine/machine.h"

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#define IO_VENDOR_ID   0x75ca
#define IO_PART_ID     1
#define IO_UVERBS_BASE 200

/* What tells one emulated device from another. */
struct io_identity {
	unsigned index;
	char name[16]; /* "uhca0" */
	uint64_t guid; /* host order */
	struct io_address_list addresses;
	char netdev[IF_NAMESIZE];      /* interface of the first address; "" when unknown */
	uint32_t active_mtu;           /* enum ibv_mtu: what all its interfaces carry */
	enum core_node_type node_type; /* 0: CORE_NODE_CA */
	const struct machine_device *machine_device; /* NULL: as it always was */
	unsigned first_address[CORE_PORTS_MAX]; /* of each port in the list; port 1's are first */
	const char *rate;                       /* of port 1, as sysfs has it; NULL: its own */
	unsigned mbit;                          /* the same, Mb/s; 0: its own */
	const struct core_config *config;       /* for what it says of itself */
};

/*
 * Makes the files that do not belong to one device, and the folders of so many uverbs. 0 or -errno
 * of mkdir(2), open(2), write(2).
 */
int io_sysfs_create(const char *dir, unsigned devices);

/* What a described machine has around its devices. 0 or -errno as above. */
int io_sysfs_machine(const char *dir, const struct machine *machine);

/*
 * Makes the files of a device whose index is below the number that io_sysfs_create got. libibverbs
 * takes the modification time of the device's folder for its identity, so nothing directly in it is
 * touched later. 0 or -errno as above.
 */
int io_sysfs_add(const char *dir, const struct io_identity *id);

/*
 * Says whether the port is up, in its files state and phys_state; a reader sees the old or the new
 * line. 0 or -errno as above, and of rename(2).
 */
int io_sysfs_port(const char *dir, const struct io_identity *id, bool up);

#endif
