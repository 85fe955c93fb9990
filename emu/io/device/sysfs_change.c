/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See sysfs_change.h. A device that is away has its folders in AWAY, where nobody looks: to come
 * back is a matter of names, whatever is in them.
 */
#include "sysfs_change.h"

#include "emu/io/sysfs/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH  320
#define AWAY  "sys/away"
#define VERBS "sys/class/infiniband_verbs"
#define NODES "dev/infiniband"

__attribute__((format(printf, 2, 3))) static const char *path(char out[PATH], const char *format,
							      ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(out, PATH, format, ap);
	va_end(ap);
	return out;
}

static int open_root(const char *dir)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int write_new(int root, const char *name, const char *text)
{
	char line[PATH];
	int n = snprintf(line, sizeof(line), "%s\n", text);
	int fd = openat(root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	int error = fd < 0 ? -errno : 0;

	if (fd >= 0 && write(fd, line, (size_t)n) != n)
		error = -EIO;
	if (fd >= 0)
		close(fd);
	return error;
}

static int move(int root, const char *from, const char *to)
{
	return renameat(root, from, root, to) < 0 ? -errno : 0;
}

static int replace(int root, const char *base, const char *name, const char *text)
{
	char from[PATH], to[PATH];
	int error = write_new(root, path(from, "%s/.new", base), text);

	return error < 0 ? error : move(root, from, path(to, "%s/%s", base, name));
}

/* Two names for each other's files; where a file system cannot do that at once, one by one. */
static int swap(int root, const char *a, const char *b)
{
	char between[PATH];
	int error;

	if (renameat2(root, a, root, b, RENAME_EXCHANGE) == 0)
		return 0;
	error = move(root, a, path(between, "%s.swap", a));
	if (error == 0)
		error = move(root, b, a);
	return error < 0 ? error : move(root, between, b);
}

static const char *port_of(char out[PATH], const struct io_identity *id)
{
	return path(out, "sys/class/infiniband/%s/ports/1", id->name);
}

int io_sysfs_line(const char *dir, const struct io_identity *id, const char *file, const char *text)
{
	char base[PATH];
	int root = open_root(dir);
	int error;

	if (root < 0)
		return root;
	error = replace(root, port_of(base, id), file, text);
	close(root);
	return error;
}

/* ---- GIDs ---- */

/* Up to the line's end; "" where there is nothing to read. */
static void read_line(int root, const char *name, char *out, size_t cap)
{
	int fd = openat(root, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, cap - 1);

	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

/*
 * An attribute of an entry is a line, and its spare the link to a file that cannot be read, or it
 * is the link, and there is no spare. text "": the link.
 */
static int write_attribute(int root, const char *folder, unsigned index, const char *text)
{
	char name[PATH], spare[PATH], fresh[PATH], target[8];
	bool is_link = readlinkat(root, path(name, "%s/%u", folder, index), target, 8) > 0;
	int error = 0;

	path(spare, "%s/.spare%u", folder, index);
	path(fresh, "%s/.new", folder);
	if (!text[0] && !is_link) {
		error = swap(root, spare, name);
		if (error == 0 && unlinkat(root, spare, 0) < 0)
			error = -errno;
		return error;
	}
	if (text[0])
		error = write_new(root, fresh, text);
	if (text[0] && error == 0)
		error = is_link ? swap(root, fresh, name) : move(root, fresh, name);
	return error == 0 && text[0] && is_link ? move(root, fresh, spare) : error;
}

int io_sysfs_gid_write(const char *dir, const struct io_identity *id, unsigned index,
		       const struct io_gid_entry *e)
{
	static const uint8_t none[16];
	const bool empty = memcmp(e->gid, none, sizeof(none)) == 0;
	char base[PATH], name[PATH], gid[40];
	int root = open_root(dir);
	int error;

	if (root < 0)
		return root;
	port_of(base, id);
	sysfs_gid_text(e->gid, gid);
	snprintf(name, sizeof(name), "%.200s/gid_attrs/types", base);
	error = write_attribute(root, name, index, empty ? "" : e->type);
	snprintf(name, sizeof(name), "%.200s/gid_attrs/ndevs", base);
	if (error == 0)
		error = write_attribute(root, name, index, empty ? "" : e->ndev);
	snprintf(name, sizeof(name), "gids/%u", index);
	if (error == 0)
		error = replace(root, base, name, gid);
	close(root);
	return error;
}

/* ---- away and back ---- */

/* The number of the uverbs of this device in a folder, of any when id is NULL. 0 or -ENOENT. */
static int find_uverbs(int root, const char *folder, const struct io_identity *id, unsigned *number)
{
	int fd = openat(root, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char name[PATH], ibdev[32];
	bool found = false;

	for (struct dirent *e; d && !found && (e = readdir(d));) {
		if (sscanf(e->d_name, "uverbs%u", number) != 1)
			continue;
		if (id)
			read_line(root, path(name, "%s/%s/ibdev", folder, e->d_name), ibdev,
				  sizeof(ibdev));
		found = !id || strcmp(ibdev, id->name) == 0;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return found ? 0 : -ENOENT;
}

/* First what lists are made of: a reader may be in the middle of it. */
static int take_away(int root, const struct io_identity *id)
{
	char from[PATH], to[PATH];
	unsigned n;
	int error = find_uverbs(root, VERBS, id, &n);

	if (error == 0 && mkdirat(root, AWAY, 0755) < 0 && errno != EEXIST)
		error = -errno;
	if (error == 0)
		error = move(root, path(from, VERBS "/uverbs%u", n), path(to, AWAY "/uverbs%u", n));
	if (error == 0)
		error = move(root, path(from, NODES "/uverbs%u", n), path(to, AWAY "/node%u", n));
	if (error == 0)
		error = move(root, path(from, "sys/class/infiniband/%s", id->name),
			     path(to, AWAY "/%s", id->name));
	return error;
}

/* libibverbs takes the time of the folder for the identity of the device. */
static int renew(int root, const struct io_identity *id)
{
	char name[PATH];
	int error = write_new(root, path(name, "sys/class/infiniband/%s/.new", id->name), "");

	if (error == 0 && unlinkat(root, name, 0) < 0)
		error = -errno;
	return error;
}

static int bring_back(int root, const struct io_identity *id, unsigned uverbs)
{
	char from[PATH], to[PATH];
	unsigned n;
	int error = find_uverbs(root, AWAY, id, &n);

	if (error < 0)
		return error;
	if (uverbs == UINT_MAX)
		uverbs = n;
	error = move(root, path(from, AWAY "/%s", id->name),
		     path(to, "sys/class/infiniband/%s", id->name));
	if (error == 0)
		error = renew(root, id);
	if (error == 0)
		error = move(root, path(from, AWAY "/node%u", n),
			     path(to, NODES "/uverbs%u", uverbs));
	if (error == 0)
		error = move(root, path(from, AWAY "/uverbs%u", n),
			     path(to, VERBS "/uverbs%u", uverbs));
	return error;
}

/* The entry below device/ links to the uverbs, which has another name now: it becomes a folder. */
static int name_uverbs(int root, const struct io_identity *id, unsigned uverbs)
{
	char folder[PATH], name[PATH], file[PATH];
	unsigned n;
	int error = 0;

	path(folder, "sys/class/infiniband/%s/device/infiniband_verbs", id->name);
	if (find_uverbs(root, folder, NULL, &n) < 0 || uverbs == UINT_MAX || n == uverbs)
		return 0;
	if (unlinkat(root, path(name, "%s/uverbs%u", folder, n), 0) == 0)
		error = mkdirat(root, path(name, "%s/uverbs%u", folder, uverbs), 0755) < 0 ? -errno
											   : 0;
	else
		error = move(root, name, path(file, "%s/uverbs%u", folder, uverbs));
	path(name, "%s/uverbs%u", folder, uverbs);
	if (error == 0)
		error = write_new(root, path(file, "%s/ibdev", name), id->name);
	if (error == 0)
		error = write_new(root, path(file, "%s/abi_version", name), "1");
	return error < 0 ? error : write_new(root, path(file, "%s/dev", name), "1:3");
}

int io_sysfs_take_away(const char *dir, const struct io_identity *id)
{
	int root = open_root(dir);
	int error = root < 0 ? root : take_away(root, id);

	if (root >= 0)
		close(root);
	return error;
}

int io_sysfs_bring_back(const char *dir, const struct io_identity *id, unsigned uverbs)
{
	int root = open_root(dir);
	int error = root < 0 ? root : bring_back(root, id, uverbs);

	if (error == 0)
		error = name_uverbs(root, id, uverbs);
	if (root >= 0)
		close(root);
	return error;
}
