/* SPDX-License-Identifier: BSD-2-Clause */
/* Files and links of sysfs. */
#include "sysfs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int sysfs_open(struct sysfs_tree *t, const char *dir)
{
	*t = (struct sysfs_tree){.root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)};
	return t->root < 0 ? -errno : 0;
}

int sysfs_close(struct sysfs_tree *t)
{
	close(t->root);
	return t->error;
}

void sysfs_base(struct sysfs_tree *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->base, sizeof(t->base), format, ap);
	va_end(ap);
}

static void full_path(const struct sysfs_tree *t, const char *name, char path[2 * SYSFS_PATH])
{
	snprintf(path, 2 * SYSFS_PATH, "%s/%s", t->base, name);
}

/* Makes the folder above the path, and first those above that one where they are missing. */
static bool make_parent(const struct sysfs_tree *t, char *path)
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
static int create_file(const struct sysfs_tree *t, char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(t->root, path, flags, 0644);

	if (fd < 0 && errno == ENOENT && make_parent(t, path))
		fd = openat(t->root, path, flags, 0644);
	return fd;
}

static void create(struct sysfs_tree *t, char *path, const void *bytes, size_t n)
{
	int fd = create_file(t, path);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		t->error = fd < 0 ? -errno : -EIO;
	if (fd >= 0)
		close(fd);
}

static void create_link(struct sysfs_tree *t, char *path, const char *target)
{
	int error = symlinkat(target, t->root, path);

	if (error < 0 && errno == ENOENT && make_parent(t, path))
		error = symlinkat(target, t->root, path);
	if (error < 0)
		t->error = -errno;
}

/* ---- the pool: each content once, under many names ---- */

/* FNV-1a, of 64 bits. */
static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n-- > 0)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

static void pool_name(const void *bytes, size_t n, bool is_link, char out[SYSFS_PATH])
{
	snprintf(out, SYSFS_PATH, SYSFS_POOL "/%c%016llx", is_link ? 'l' : 'f',
		 (unsigned long long)hash(0xcbf29ce484222325ull, bytes, n));
}

/* Another name of what the pool has. A name that is taken leads to the new content. */
static bool link_from_pool(struct sysfs_tree *t, const char *pool, char *path)
{
	bool done = linkat(t->root, pool, t->root, path, 0) == 0;

	if (!done && errno == EEXIST && unlinkat(t->root, path, 0) == 0)
		done = linkat(t->root, pool, t->root, path, 0) == 0;
	if (!done && errno == ENOENT && faccessat(t->root, pool, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		done = make_parent(t, path) && linkat(t->root, pool, t->root, path, 0) == 0;
	return done;
}

/* False: the file system has no such links; nothing is made. */
static bool put_pooled(struct sysfs_tree *t, char *path, const void *bytes, size_t n, bool is_link)
{
	char pool[SYSFS_PATH];

	if (!t->pooled)
		return false;
	pool_name(bytes, n, is_link, pool);
	if (link_from_pool(t, pool, path))
		return true;
	if (is_link)
		create_link(t, pool, bytes);
	else
		create(t, pool, bytes, n);
	if (t->error == -EEXIST)
		t->error = 0;
	return t->error == 0 && link_from_pool(t, pool, path);
}

void sysfs_bytes(struct sysfs_tree *t, const char *name, const void *bytes, size_t n)
{
	char path[2 * SYSFS_PATH];

	if (t->error < 0)
		return;
	full_path(t, name, path);
	if (!put_pooled(t, path, bytes, n, false))
		create(t, path, bytes, n);
}

/* A file with one line. */
void sysfs_write(struct sysfs_tree *t, const char *name, const char *format, ...)
{
	char text[SYSFS_LINE];
	va_list ap;
	int n;

	if (t->error < 0)
		return;
	va_start(ap, format);
	n = vsnprintf(text, sizeof(text) - 1, format, ap);
	va_end(ap);
	if (n > (int)sizeof(text) - 2)
		n = (int)sizeof(text) - 2;
	text[n++] = '\n';
	sysfs_bytes(t, name, text, (size_t)n);
}

/* The same for a file that somebody may be reading. */
void sysfs_replace(struct sysfs_tree *t, const char *name, const char *text)
{
	char from[2 * SYSFS_PATH];
	char to[2 * SYSFS_PATH];

	sysfs_write(t, ".new", "%s", text);
	full_path(t, ".new", from);
	full_path(t, name, to);
	if (t->error == 0 && renameat(t->root, from, t->root, to) < 0)
		t->error = -errno;
}

unsigned sysfs_number(const struct sysfs_tree *t, const char *name)
{
	char path[2 * SYSFS_PATH], text[16];
	unsigned number = 0;
	ssize_t n;
	int fd;

	full_path(t, name, path);
	fd = openat(t->root, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	sscanf(text, "%u", &number);
	if (fd >= 0)
		close(fd);
	return number;
}

void sysfs_folder(struct sysfs_tree *t, const char *name)
{
	char path[2 * SYSFS_PATH];

	full_path(t, name, path);
	if (t->error == 0 && mkdirat(t->root, path, 0755) < 0 && errno != EEXIST &&
	    !(make_parent(t, path) && mkdirat(t->root, path, 0755) == 0))
		t->error = -errno;
}

void sysfs_link_beside(struct sysfs_tree *t, const char *name, const char *target)
{
	char path[2 * SYSFS_PATH];
	struct stat st;

	full_path(t, name, path);
	if (fstatat(t->root, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		sysfs_link(t, name, target);
}

void sysfs_link_over(struct sysfs_tree *t, const char *name, const char *target)
{
	char path[2 * SYSFS_PATH];

	full_path(t, name, path);
	unlinkat(t->root, path, 0);
	sysfs_link(t, name, target);
}

void sysfs_link(struct sysfs_tree *t, const char *name, const char *target)
{
	char path[2 * SYSFS_PATH];

	if (t->error < 0)
		return;
	full_path(t, name, path);
	if (!put_pooled(t, path, target, strlen(target) + 1, true))
		create_link(t, path, target);
}

/*
 * A file that says what another of its folder says: the same file under one more name, which is
 * less to make and to remove. Some file systems have no such thing.
 */
static void make_twin(struct sysfs_tree *t, const char *name, const char *twin, const char *text)
{
	char from[2 * SYSFS_PATH];
	char to[2 * SYSFS_PATH];

	full_path(t, twin, from);
	full_path(t, name, to);
	if (t->error == 0 && linkat(t->root, from, t->root, to, 0) < 0)
		sysfs_write(t, name, "%s", text);
}

/* One file for each index of the table from "first" to before "end": all say the same. */
void sysfs_column(struct sysfs_tree *t, const char *folder, unsigned first, unsigned end,
		  const char *text)
{
	char twin[32];
	char name[32];

	if (first >= end)
		return;
	snprintf(twin, sizeof(twin), "%s/%u", folder, first);
	sysfs_write(t, twin, "%s", text);
	for (unsigned i = first + 1; i < end; i++) {
		snprintf(name, sizeof(name), "%s/%u", folder, i);
		make_twin(t, name, twin, text);
	}
}

/*
 * An attribute of an empty entry: it can be opened, and reading it fails with EINVAL, as on Linux
 * (Documentation/ABI/stable/sysfs-class-infiniband). A namespace file is one that cannot be read.
 */
void sysfs_unreadable(struct sysfs_tree *t, const char *folder, unsigned first, unsigned end)
{
	char name[32];

	for (unsigned i = first; i < end; i++) {
		snprintf(name, sizeof(name), "%s/%u", folder, i);
		sysfs_link(t, name, "/proc/self/ns/uts");
	}
}

void sysfs_spares(struct sysfs_tree *t, const char *folder, unsigned first, unsigned end)
{
	char name[32];

	for (unsigned i = first; i < end; i++) {
		snprintf(name, sizeof(name), "%s/.spare%u", folder, i);
		sysfs_link(t, name, "/proc/self/ns/uts");
	}
}

const char *sysfs_guid_text(uint64_t guid, char out[24])
{
	snprintf(out, 24, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48 & 0xffff),
		 (unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
		 (unsigned)(guid & 0xffff));
	return out;
}

const char *sysfs_gid_text(const uint8_t gid[16], char out[40])
{
	for (unsigned k = 0; k < 8; k++)
		snprintf(out + 5 * k, 40 - 5 * k, "%02x%02x%s", gid[2 * k], gid[2 * k + 1],
			 k < 7 ? ":" : "");
	return out;
}
