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

/* ---- steps: after the first error nothing more is done ---- */

/* Makes no folder: what is not there has been taken away. */
static void write_new(struct sysfs_tree *t, const char *name, const char *text)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
	char line[PATH];
	int n = snprintf(line, sizeof(line), "%s\n", text);
	int fd = t->error < 0 ? -1 : openat(t->root, name, flags, 0644);

	if (t->error == 0 && (fd < 0 || write(fd, line, (size_t)n) != n))
		t->error = fd < 0 ? -errno : -EIO;
	if (fd >= 0)
		close(fd);
}

static void move(struct sysfs_tree *t, const char *from, const char *to)
{
	if (t->error == 0 && renameat(t->root, from, t->root, to) < 0)
		t->error = -errno;
}

static void drop(struct sysfs_tree *t, const char *name)
{
	if (t->error == 0 && unlinkat(t->root, name, 0) < 0)
		t->error = -errno;
}

static void replace(struct sysfs_tree *t, const char *base, const char *name, const char *text)
{
	char from[PATH], to[PATH];

	write_new(t, path(from, "%s/.new", base), text);
	move(t, from, path(to, "%s/%s", base, name));
}

/* Two names for each other's files; where a file system cannot do that at once, one by one. */
static void swap(struct sysfs_tree *t, const char *a, const char *b)
{
	char between[PATH];

	if (t->error < 0 || renameat2(t->root, a, t->root, b, RENAME_EXCHANGE) == 0)
		return;
	move(t, a, path(between, "%s.swap", a));
	move(t, b, a);
	move(t, between, b);
}

static const char *port_of(char out[PATH], const struct io_identity *id)
{
	return path(out, "sys/class/infiniband/%s/ports/1", id->name);
}

int io_sysfs_line(const char *dir, const struct io_identity *id, const char *file, const char *text)
{
	struct sysfs_tree t;
	char base[PATH];
	int error = sysfs_open(&t, dir);

	if (error < 0)
		return error;
	replace(&t, port_of(base, id), file, text);
	return sysfs_close(&t);
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
static void write_attribute(struct sysfs_tree *t, const char *folder, unsigned index,
			    const char *text)
{
	char name[PATH], spare[PATH], fresh[PATH], target[8];
	bool is_link = readlinkat(t->root, path(name, "%s/%u", folder, index), target, 8) > 0;

	path(spare, "%s/.spare%u", folder, index);
	path(fresh, "%s/.new", folder);
	if (text[0]) {
		write_new(t, fresh, text);
		if (is_link)
			swap(t, fresh, name);
		move(t, fresh, is_link ? spare : name);
	} else if (!is_link) {
		swap(t, spare, name);
		drop(t, spare);
	}
}

int io_sysfs_gid_write(const char *dir, const struct io_identity *id, unsigned index,
		       const struct io_gid_entry *e)
{
	const bool empty = roce_addr_is_zero(e->gid);
	char base[PATH], name[PATH], gid[40];
	struct sysfs_tree t;
	int error = sysfs_open(&t, dir);

	if (error < 0)
		return error;
	port_of(base, id);
	snprintf(name, sizeof(name), "%.200s/gid_attrs/types", base);
	write_attribute(&t, name, index, empty ? "" : e->type);
	snprintf(name, sizeof(name), "%.200s/gid_attrs/ndevs", base);
	write_attribute(&t, name, index, empty ? "" : e->ndev);
	snprintf(name, sizeof(name), "gids/%u", index);
	replace(&t, base, name, sysfs_gid_text(e->gid, gid));
	return sysfs_close(&t);
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
static void take_away(struct sysfs_tree *t, const struct io_identity *id)
{
	char from[PATH], to[PATH];
	unsigned n = 0;

	t->error = find_uverbs(t->root, VERBS, id, &n);
	if (t->error == 0 && mkdirat(t->root, AWAY, 0755) < 0 && errno != EEXIST)
		t->error = -errno;
	move(t, path(from, VERBS "/uverbs%u", n), path(to, AWAY "/uverbs%u", n));
	move(t, path(from, NODES "/uverbs%u", n), path(to, AWAY "/node%u", n));
	move(t, path(from, "sys/class/infiniband/%s", id->name), path(to, AWAY "/%s", id->name));
}

static void bring_back(struct sysfs_tree *t, const struct io_identity *id, unsigned uverbs)
{
	char from[PATH], to[PATH];
	unsigned n = 0;

	t->error = find_uverbs(t->root, AWAY, id, &n);
	if (uverbs == UINT_MAX)
		uverbs = n;
	move(t, path(from, AWAY "/%s", id->name), path(to, "sys/class/infiniband/%s", id->name));
	/* libibverbs takes the time of the folder for the identity of the device. */
	write_new(t, path(from, "sys/class/infiniband/%s/.new", id->name), "");
	drop(t, from);
	move(t, path(from, AWAY "/node%u", n), path(to, NODES "/uverbs%u", uverbs));
	move(t, path(from, AWAY "/uverbs%u", n), path(to, VERBS "/uverbs%u", uverbs));
}

/* The entry below device/ links to the uverbs, which has another name now: it becomes a folder. */
static void name_uverbs(struct sysfs_tree *t, const struct io_identity *id, unsigned uverbs)
{
	char folder[PATH], name[PATH], file[PATH];
	unsigned n;

	path(folder, "sys/class/infiniband/%s/device/infiniband_verbs", id->name);
	if (t->error < 0 || find_uverbs(t->root, folder, NULL, &n) < 0 || uverbs == UINT_MAX ||
	    n == uverbs)
		return;
	path(file, "%s/uverbs%u", folder, n);
	path(name, "%s/uverbs%u", folder, uverbs);
	if (unlinkat(t->root, file, 0) < 0)
		move(t, file, name);
	else if (mkdirat(t->root, name, 0755) < 0)
		t->error = -errno;
	write_new(t, path(file, "%s/ibdev", name), id->name);
	write_new(t, path(file, "%s/abi_version", name), "1");
	write_new(t, path(file, "%s/dev", name), "1:3");
}

int io_sysfs_take_away(const char *dir, const struct io_identity *id)
{
	struct sysfs_tree t;
	int error = sysfs_open(&t, dir);

	if (error < 0)
		return error;
	take_away(&t, id);
	return sysfs_close(&t);
}

int io_sysfs_bring_back(const char *dir, const struct io_identity *id, unsigned uverbs)
{
	struct sysfs_tree t;
	int error = sysfs_open(&t, dir);

	if (error < 0)
		return error;
	bring_back(&t, id, uverbs);
	name_uverbs(&t, id, uverbs);
	return sysfs_close(&t);
}
