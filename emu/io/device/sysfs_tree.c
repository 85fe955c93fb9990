/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See sysfs_tree.h. What must be there, and who reads it: reference notes on rdma-core, 2.5.
 * Counters are counter_files.c's. The node of rdma_cm only says that there is one: to open it is
 * the preload library's business.
 */
#include "sysfs_tree.h"

#include "emu/io/sysfs/sysfs.h"
#include "sysfs_machine_device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What each uverbs has, whatever device it is for. */
static void put_uverbs(struct sysfs_tree *t, unsigned number)
{
	char name[32];

	snprintf(name, sizeof(name), "uverbs%u/abi_version", number);
	sysfs_write(t, name, "1");
	snprintf(name, sizeof(name), "uverbs%u/dev", number);
	sysfs_write(t, name, "1:3");
}

int io_sysfs_create(const char *dir, unsigned devices)
{
	struct sysfs_tree t;
	int error = sysfs_open(&t, dir);

	if (error < 0)
		return error;
	sysfs_base(&t, "sys/class/infiniband_verbs");
	sysfs_write(&t, "abi_version", "6");
	for (unsigned i = 0; i < devices; i++)
		put_uverbs(&t, IO_UVERBS_BASE + i);
	sysfs_base(&t, "sys/class/misc/rdma_cm");
	sysfs_write(&t, "abi_version", "4");
	sysfs_write(&t, "dev", "10:58");
	sysfs_base(&t, "dev/infiniband");
	sysfs_link(&t, "rdma_cm", "/dev/null");
	return sysfs_close(&t);
}

/* The number of the uverbs at this place in its folder. False, and an error, when there is none. */
static bool find_uverbs(struct sysfs_tree *t, unsigned place, unsigned *number)
{
	int fd = openat(t->root, "sys/class/infiniband_verbs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int error = d ? -ENOENT : -errno;
	bool found = false;

	for (struct dirent *e; d && !found && (e = readdir(d));)
		found = sscanf(e->d_name, "uverbs%u", number) == 1 && place-- == 0;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (!found)
		t->error = error;
	return found;
}

void io_sysfs_uverbs_add(struct sysfs_tree *t, const struct io_identity *id, unsigned number)
{
	char text[SYSFS_PATH];

	sysfs_base(t, "sys/class/infiniband_verbs/uverbs%u", number);
	sysfs_write(t, "ibdev", "%s", id->name);
	snprintf(text, sizeof(text), "../../infiniband/%s/device", id->name);
	if (!id->machine_device || !id->machine_device->is_virtual)
		sysfs_link(t, "device", text);
	sysfs_base(t, "dev/infiniband");
	snprintf(text, sizeof(text), "uverbs%u", number);
	sysfs_link(t, text, "/dev/null");
}

/* What stands for the bus device behind the HCA. */
static void add_bus_device(struct sysfs_tree *t, const struct io_identity *id, unsigned number)
{
	char name[64];
	char target[64];

	sysfs_base(t, "sys/class/infiniband/%s/device", id->name);
	sysfs_write(t, "vendor", "0x%04x", IO_VENDOR_ID);
	sysfs_write(t, "device", "0x%04x", IO_PART_ID);
	sysfs_write(t, "subsystem_vendor", "0x%04x", IO_VENDOR_ID);
	sysfs_write(t, "subsystem_device", "0x%04x", IO_PART_ID);
	sysfs_write(t, "numa_node", "-1");
	snprintf(name, sizeof(name), "infiniband/%s", id->name);
	sysfs_link(t, name, "../..");
	snprintf(name, sizeof(name), "infiniband_verbs/uverbs%u", number);
	snprintf(target, sizeof(target), "../../../../infiniband_verbs/uverbs%u", number);
	sysfs_link(t, name, target);
	if (!id->netdev[0])
		return;
	snprintf(name, sizeof(name), "net/%s", id->netdev);
	snprintf(target, sizeof(target), "/sys/class/net/%s", id->netdev);
	sysfs_link(t, name, target);
}

int io_sysfs_machine(const char *dir, const struct machine *machine)
{
	struct sysfs_tree t;
	int error = sysfs_open(&t, dir);

	if (error < 0)
		return error;
	t.pooled = true;
	sysfs_machine_make(&t, machine);
	return sysfs_close(&t);
}

int io_sysfs_port(const char *dir, const struct io_identity *id, bool up)
{
	struct sysfs_tree t;
	int error = sysfs_open(&t, dir);

	if (error < 0)
		return error;
	sysfs_base(&t, "sys/class/infiniband/%s/ports/1", id->name);
	sysfs_replace(&t, "state", up ? "4: ACTIVE" : "1: DOWN");
	sysfs_replace(&t, "phys_state", up ? "5: LinkUp" : "3: Disabled");
	if (id->machine_device && id->machine_device->port[0].netdev[0])
		sysfs_net_carrier(&t, id->machine_device, id->machine_device->port[0].netdev, up);
	return sysfs_close(&t);
}

int io_sysfs_add(const char *dir, const struct io_identity *id)
{
	unsigned number;
	struct sysfs_tree t;
	int error = sysfs_open(&t, dir);

	if (error < 0)
		return error;
	if (!find_uverbs(&t, id->index, &number))
		return sysfs_close(&t);
	if (id->machine_device) {
		t.pooled = true;
		io_sysfs_machine_device_add(&t, id, number);
		return sysfs_close(&t);
	}
	io_sysfs_uverbs_add(&t, id, number);
	add_bus_device(&t, id, number);
	io_sysfs_port_add(&t, id, 0);
	sysfs_base(&t, "sys/class/infiniband/%s", id->name);
	io_sysfs_device_add(&t, id);
	return sysfs_close(&t);
}
