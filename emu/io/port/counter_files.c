/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See counter_files.h. One write is seen whole; of a number that became shorter the rest is cut off
 * behind it.
 */
#include "counter_files.h"

#include "counter_tables.h"
#include "counts.h"
#include "emu/io/device/devices.h"
#include "emu/io/net/udp.h"
#include "emu/io/sysfs/sysfs.h"
#include "loopback.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t value_of(const struct io_counter *c, const struct io_counter_source *s)
{
	uint64_t value;

	if (c->make)
		return c->make(s);
	memcpy(&value, (const char *)s->core + c->at, sizeof(value));
	return value;
}

static void collect(const struct io_device *dev, uint64_t value[IO_COUNTER_FILES])
{
	const struct io_udp *udp = io_counts_udp(dev);
	const struct io_counter_source s = {.device = dev->core,
					    .core = core_counters(dev->core),
					    .udp = udp,
					    .bad = dev->bad_icrc + udp->rx.counters.bad_icrc +
						   udp->rx.counters.malformed,
					    .no_route = dev->loopback->no_route};
	unsigned n;
	const struct io_counter *table = io_counter_table(io_counter_names_of(dev), &n);

	for (unsigned i = 0; i < n; i++)
		value[i] = value_of(&table[i], &s);
}

/* A file that says what others say has their names as well (begin_with_zeros): it becomes one. */
static int open_one(int root, const char *name)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(root, name, flags, 0644);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_nlink == 1)
		return fd;
	close(fd);
	return unlinkat(root, name, 0) < 0 ? -1 : openat(root, name, flags, 0644);
}

static int write_one(int root, const char *name, uint64_t value, bool smaller)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	int fd = open_one(root, name);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, text, (size_t)n, 0) != n)
		error = -EIO;
	else if (smaller && ftruncate(fd, n) < 0)
		error = -errno;
	close(fd);
	return error;
}

void io_counter_files_collect(const struct io_counter_files *f, struct io_counter_values *v)
{
	*v = (struct io_counter_values){.root = f->root, .names = io_counter_names_of(f->dev)};
	memcpy(v->written, f->written, sizeof(v->written));
	collect(f->dev, v->value);
}

void io_counter_values_write(struct io_counter_values *v)
{
	unsigned n;
	const struct io_counter *table = io_counter_table(v->names, &n);

	for (unsigned i = 0; i < n && v->error == 0; i++) {
		if (v->value[i] == v->written[i])
			continue;
		v->error =
			write_one(v->root, table[i].name, v->value[i], v->value[i] < v->written[i]);
		v->written[i] = v->value[i];
	}
}

void io_counter_files_note(struct io_counter_files *f, const struct io_counter_values *v)
{
	memcpy(f->written, v->written, sizeof(f->written));
}

int io_counter_files_update(struct io_counter_files *f)
{
	struct io_counter_values v;

	io_counter_files_collect(f, &v);
	io_counter_values_write(&v);
	io_counter_files_note(f, &v);
	return v.error;
}

static int make_folder(int root, const char *name)
{
	return mkdirat(root, name, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

/* A machine has many: all of them are one file while they are zero. */
static void begin_with_zeros(struct io_counter_files *f, const char *dir)
{
	struct sysfs_tree t;
	unsigned n;
	const struct io_counter *table = io_counter_table(io_counter_names_of(f->dev), &n);

	if (!f->dev->id.machine_device || sysfs_open(&t, dir) < 0)
		return;
	t.pooled = true;
	sysfs_base(&t, "sys/class/infiniband/%s/ports/1", f->dev->id.name);
	for (unsigned i = 0; i < n; i++)
		sysfs_write(&t, table[i].name, "0");
	if (sysfs_close(&t) == 0)
		memset(f->written, 0, sizeof(f->written));
}

int io_counter_files_open(struct io_counter_files *f, const char *dir, const struct io_device *dev)
{
	char path[PATH_MAX + 64];
	int error;

	f->dev = dev;
	memset(f->written, 0xff, sizeof(f->written)); /* write each */
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/ports/1", dir, dev->id.name);
	f->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->root < 0)
		return -errno;
	error = make_folder(f->root, "counters");
	if (error == 0)
		error = make_folder(f->root, "hw_counters");
	if (error == 0) {
		begin_with_zeros(f, dir);
		error = io_counter_files_update(f);
	}
	if (error < 0)
		io_counter_files_close(f);
	return error;
}

void io_counter_files_close(struct io_counter_files *f)
{
	if (f->root >= 0)
		close(f->root);
	f->root = -1;
}
