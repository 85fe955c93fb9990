/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See sysfs_tree.h. What must be there, and who reads it: reference notes on rdma-core, 2.5.
 * Counters are counter_files.c's. The node of rdma_cm only says that there is one: to open it is
 * the preload library's business.
 */
#include "sysfs_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_LENGTH 256

/* A folder that files are put into. After the first error nothing more is done. */
struct tree {
	int root;
	char base[PATH_LENGTH]; /* in front of each path */
	int error;
};

static int open_tree(struct tree *t, const char *dir)
{
	*t = (struct tree){.root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)};
	return t->root < 0 ? -errno : 0;
}

static int close_tree(struct tree *t)
{
	close(t->root);
	return t->error;
}

__attribute__((format(printf, 2, 3))) static void set_base(struct tree *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->base, sizeof(t->base), format, ap);
	va_end(ap);
}

static void full_path(const struct tree *t, const char *name, char path[2 * PATH_LENGTH])
{
	snprintf(path, 2 * PATH_LENGTH, "%s/%s", t->base, name);
}

/* Makes the folder above the path, and first those above that one where they are missing. */
static bool make_parent(const struct tree *t, char *path)
{
	char *slash = strrchr(path, '/');
	bool made;

	if (!slash)
		return false;
	*slash = '\0';
	made = mkdirat(t->root, path, 0755) == 0 ||
	       (errno == ENOENT && make_parent(t, path) && mkdirat(t->root, path, 0755) == 0);
	*slash = '/';
	return made;
}

/* Folders are made when the first entry needs one: most stand beside another. */
static int create_file(const struct tree *t, char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(t->root, path, flags, 0644);

	if (fd < 0 && errno == ENOENT && make_parent(t, path))
		fd = openat(t->root, path, flags, 0644);
	return fd;
}

/* A file with one line. */
__attribute__((format(printf, 3, 4))) static void sysfs_file_write(struct tree *t, const char *name,
								   const char *format, ...)
{
	char path[2 * PATH_LENGTH];
	char text[PATH_LENGTH];
	va_list ap;
	int fd;
	int n;

	if (t->error < 0)
		return;
	full_path(t, name, path);
	va_start(ap, format);
	n = vsnprintf(text, sizeof(text) - 1, format, ap);
	va_end(ap);
	text[n++] = '\n';
	fd = create_file(t, path);
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		t->error = fd < 0 ? -errno : -EIO;
	if (fd >= 0)
		close(fd);
}

/* The same for a file that somebody may be reading. */
static void replace(struct tree *t, const char *name, const char *text)
{
	char from[2 * PATH_LENGTH];
	char to[2 * PATH_LENGTH];

	sysfs_file_write(t, ".new", "%s", text);
	full_path(t, ".new", from);
	full_path(t, name, to);
	if (t->error == 0 && renameat(t->root, from, t->root, to) < 0)
		t->error = -errno;
}

static void put_link(struct tree *t, const char *name, const char *target)
{
	char path[2 * PATH_LENGTH];
	int error;

	if (t->error < 0)
		return;
	full_path(t, name, path);
	error = symlinkat(target, t->root, path);
	if (error < 0 && errno == ENOENT && make_parent(t, path))
		error = symlinkat(target, t->root, path);
	if (error < 0)
		t->error = -errno;
}

/* What each uverbs has, whatever device it is for. */
static void put_uverbs(struct tree *t, unsigned number)
{
	char name[32];

	snprintf(name, sizeof(name), "uverbs%u/abi_version", number);
	sysfs_file_write(t, name, "1");
	snprintf(name, sizeof(name), "uverbs%u/dev", number);
	sysfs_file_write(t, name, "1:3");
}

int io_sysfs_create(const char *dir, unsigned devices)
{
	struct tree t;
	int error = open_tree(&t, dir);

	if (error < 0)
		return error;
	set_base(&t, "sys/class/infiniband_verbs");
	sysfs_file_write(&t, "abi_version", "6");
	for (unsigned i = 0; i < devices; i++)
		put_uverbs(&t, IO_UVERBS_BASE + i);
	set_base(&t, "sys/class/misc/rdma_cm");
	sysfs_file_write(&t, "abi_version", "4");
	sysfs_file_write(&t, "dev", "10:58");
	set_base(&t, "dev/infiniband");
	put_link(&t, "rdma_cm", "/dev/null");
	return close_tree(&t);
}

static const char *guid_text(uint64_t guid, char out[24])
{
	snprintf(out, 24, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48 & 0xffff),
		 (unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
		 (unsigned)(guid & 0xffff));
	return out;
}

/* The number of the uverbs at this place in its folder. False, and an error, when there is none. */
static bool find_uverbs(struct tree *t, unsigned place, unsigned *number)
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

static void add_uverbs(struct tree *t, const struct io_identity *id, unsigned number)
{
	char text[PATH_LENGTH];

	set_base(t, "sys/class/infiniband_verbs/uverbs%u", number);
	sysfs_file_write(t, "ibdev", "%s", id->name);
	snprintf(text, sizeof(text), "../../infiniband/%s/device", id->name);
	put_link(t, "device", text);
	set_base(t, "dev/infiniband");
	snprintf(text, sizeof(text), "uverbs%u", number);
	put_link(t, text, "/dev/null");
}

/* In the words of the kernel. */
static const char *node_type_text(enum core_node_type type)
{
	switch (type) {
	case CORE_NODE_RNIC:
		return "4: RNIC";
	case CORE_NODE_UNSPECIFIED:
		return "7: unspecified";
	case CORE_NODE_CA:
		break;
	}
	return "1: CA";
}

static void add_device(struct tree *t, const struct io_identity *id)
{
	char guid[24];

	set_base(t, "sys/class/infiniband/%s", id->name);
	sysfs_file_write(t, "node_type", "%s", node_type_text(id->node_type));
	sysfs_file_write(t, "node_guid", "%s", guid_text(id->guid, guid));
	sysfs_file_write(t, "sys_image_guid", "%s", guid_text(id->guid, guid));
	sysfs_file_write(t, "node_desc", "%s emulated HCA", id->name);
	sysfs_file_write(t, "fw_ver", "%s", UHCA_VERSION);
	sysfs_file_write(t, "hca_type", "uhca");
	sysfs_file_write(t, "hw_rev", "1");
	sysfs_file_write(t, "board_id", "UHCA%04x%04x", IO_VENDOR_ID, IO_PART_ID);
}

/* What stands for the bus device behind the HCA. */
static void add_bus_device(struct tree *t, const struct io_identity *id, unsigned number)
{
	char name[64];
	char target[64];

	set_base(t, "sys/class/infiniband/%s/device", id->name);
	sysfs_file_write(t, "vendor", "0x%04x", IO_VENDOR_ID);
	sysfs_file_write(t, "device", "0x%04x", IO_PART_ID);
	sysfs_file_write(t, "subsystem_vendor", "0x%04x", IO_VENDOR_ID);
	sysfs_file_write(t, "subsystem_device", "0x%04x", IO_PART_ID);
	sysfs_file_write(t, "numa_node", "-1");
	snprintf(name, sizeof(name), "infiniband/%s", id->name);
	put_link(t, name, "../..");
	snprintf(name, sizeof(name), "infiniband_verbs/uverbs%u", number);
	snprintf(target, sizeof(target), "../../../../infiniband_verbs/uverbs%u", number);
	put_link(t, name, target);
	if (!id->netdev[0])
		return;
	snprintf(name, sizeof(name), "net/%s", id->netdev);
	snprintf(target, sizeof(target), "/sys/class/net/%s", id->netdev);
	put_link(t, name, target);
}

/*
 * A file that says what another of its folder says: the same file under one more name, which is
 * less to make and to remove. Some file systems have no such thing.
 */
static void put_twin(struct tree *t, const char *name, const char *twin, const char *text)
{
	char from[2 * PATH_LENGTH];
	char to[2 * PATH_LENGTH];

	full_path(t, twin, from);
	full_path(t, name, to);
	if (t->error == 0 && linkat(t->root, from, t->root, to, 0) < 0)
		sysfs_file_write(t, name, "%s", text);
}

static const char *gid_text(const uint8_t gid[16], char out[40])
{
	for (unsigned k = 0; k < 8; k++)
		snprintf(out + 5 * k, 40 - 5 * k, "%02x%02x%s", gid[2 * k], gid[2 * k + 1],
			 k < 7 ? ":" : "");
	return out;
}

/* One file for each index of the table from "first" to before "end": all say the same. */
static void put_column(struct tree *t, const char *folder, unsigned first, unsigned end,
		       const char *text)
{
	char twin[32];
	char name[32];

	if (first >= end)
		return;
	snprintf(twin, sizeof(twin), "%s/%u", folder, first);
	sysfs_file_write(t, twin, "%s", text);
	for (unsigned i = first + 1; i < end; i++) {
		snprintf(name, sizeof(name), "%s/%u", folder, i);
		put_twin(t, name, twin, text);
	}
}

/*
 * An attribute of an empty entry: it can be opened, and reading it fails with EINVAL, as on Linux
 * (Documentation/ABI/stable/sysfs-class-infiniband). A namespace file is one that cannot be read.
 */
static void put_unreadable(struct tree *t, const char *folder, unsigned first)
{
	char name[32];

	for (unsigned i = first; i < CORE_GID_TABLE; i++) {
		snprintf(name, sizeof(name), "%s/%u", folder, i);
		put_link(t, name, "/proc/self/ns/uts");
	}
}

static void add_gids(struct tree *t, const struct io_identity *id)
{
	static const uint8_t empty[16];
	unsigned used = id->addresses.count;
	char name[32];
	char text[40];

	for (unsigned i = 0; i < used; i++) {
		snprintf(name, sizeof(name), "gids/%u", i);
		sysfs_file_write(t, name, "%s", gid_text(id->addresses.a[i].gid, text));
	}
	put_column(t, "gids", used, CORE_GID_TABLE, gid_text(empty, text));
	put_column(t, "gid_attrs/types", 0, used, "RoCE v2");
	put_unreadable(t, "gid_attrs/types", used);
	if (id->netdev[0])
		put_column(t, "gid_attrs/ndevs", 0, used, id->netdev);
	put_unreadable(t, "gid_attrs/ndevs", id->netdev[0] ? used : 0);
}

static void add_port(struct tree *t, const struct io_identity *id)
{
	set_base(t, "sys/class/infiniband/%s/ports/1", id->name);
	sysfs_file_write(t, "state", "4: ACTIVE");
	sysfs_file_write(t, "phys_state", "5: LinkUp");
	sysfs_file_write(t, "link_layer", "Ethernet");
	sysfs_file_write(t, "rate", "100 Gb/sec (4X EDR)");
	sysfs_file_write(t, "lid", "0x0");
	sysfs_file_write(t, "lid_mask_count", "0");
	sysfs_file_write(t, "sm_lid", "0x0");
	sysfs_file_write(t, "sm_sl", "0");
	sysfs_file_write(t, "cap_mask",
			 "0x04010000"); /* GIDs are IP addresses; communication management */
	sysfs_file_write(t, "pkeys/0", "0xffff");
	add_gids(t, id);
}

int io_sysfs_port(const char *dir, const struct io_identity *id, bool up)
{
	struct tree t;
	int error = open_tree(&t, dir);

	if (error < 0)
		return error;
	set_base(&t, "sys/class/infiniband/%s/ports/1", id->name);
	replace(&t, "state", up ? "4: ACTIVE" : "1: DOWN");
	replace(&t, "phys_state", up ? "5: LinkUp" : "3: Disabled");
	return close_tree(&t);
}

int io_sysfs_add(const char *dir, const struct io_identity *id)
{
	unsigned number;
	struct tree t;
	int error = open_tree(&t, dir);

	if (error < 0)
		return error;
	if (!find_uverbs(&t, id->index, &number))
		return close_tree(&t);
	add_uverbs(&t, id, number);
	add_bus_device(&t, id, number);
	add_port(&t, id);
	add_device(&t, id);
	return close_tree(&t);
}
