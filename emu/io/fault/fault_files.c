/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a device that rules change. A thread changes them, and the daemon waits for it a moment.
 * Where their file system does not answer, the daemon goes on; the change stands in a queue, behind
 * which all later ones stand, and is made once the file system is back.
 */
#include "emu/io/base/base.h"
#include "emu/io/local/local.h"
#include "fault_fleet.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_MAX 256u

struct io_fault_late {
	const struct io_device *dev;
	struct io_fault_file file;
};

struct question {
	char dir[PATH_MAX];
	struct io_identity id;
	struct io_fault_file file;
	int error;
};

_Static_assert(sizeof(struct question) <= IO_PROMPT_ROOM, "room for the question");

static void answer(void *arg)
{
	struct question *q = arg;
	const struct io_fault_file *file = &q->file;

	switch (file->kind) {
	case IO_FAULT_FILE_LINK:
		q->error = io_sysfs_port(q->dir, &q->id, file->up);
		break;
	case IO_FAULT_FILE_LINE:
		q->error = io_sysfs_line(q->dir, &q->id, file->name, file->line);
		break;
	case IO_FAULT_FILE_GID:
		q->error = io_sysfs_gid_write(q->dir, &q->id, file->index, &file->gid);
		break;
	case IO_FAULT_FILE_AWAY:
		q->error = io_sysfs_take_away(q->dir, &q->id);
		break;
	case IO_FAULT_FILE_BACK:
		q->error = io_sysfs_bring_back(q->dir, &q->id, file->index);
		break;
	}
}

/* False: their file system has not answered yet. */
static bool change(struct io_faults *f, const struct io_device *dev,
		   const struct io_fault_file *file, int *error)
{
	struct question q = {.id = dev->id, .file = *file};

	snprintf(q.dir, sizeof(q.dir), "%s", f->env.dir);
	if (!f->ports)
		answer(&q);
	else if (!io_prompt_ask(f->ports, answer, &q, sizeof(q), IO_PROMPT_MS))
		return false;
	*error = q.error;
	return true;
}

static void log_error(const struct io_device *dev, int error)
{
	if (error == -ETIMEDOUT)
		io_log(IO_LOG_WARN,
		       "%s: the sysfs files change later: their file system has not answered in "
		       "%d ms",
		       dev->id.name, IO_PROMPT_MS);
	else if (error < 0)
		io_log(IO_LOG_ERROR, "%s: cannot change the sysfs files: %s", dev->id.name,
		       strerror(-error));
}

/* Of a link that flaps, or an entry that moves often, the last state counts. */
static bool replaces(const struct io_fault_late *late, const struct io_device *dev,
		     const struct io_fault_file *file)
{
	return late->dev == dev && late->file.kind == file->kind &&
	       file->kind != IO_FAULT_FILE_AWAY && file->kind != IO_FAULT_FILE_BACK &&
	       late->file.index == file->index && strcmp(late->file.name, file->name) == 0;
}

static void keep(struct io_faults *f, const struct io_device *dev, const struct io_fault_file *file)
{
	if (!f->late)
		f->late = calloc(LATE_MAX, sizeof(*f->late));
	if (f->n_late && replaces(&f->late[f->n_late - 1], dev, file))
		f->n_late--;
	if (!f->late || f->n_late == LATE_MAX) {
		io_log(IO_LOG_ERROR,
		       "%s: the file system of %s is too slow; a change of its files is dropped",
		       dev->id.name, f->env.dir);
		return;
	}
	f->late[f->n_late++] = (struct io_fault_late){dev, *file};
}

int io_fault_files(struct io_faults *f, const struct io_device *dev,
		   const struct io_fault_file *file)
{
	int error = -ETIMEDOUT;

	if (f->n_late || !change(f, dev, file, &error))
		keep(f, dev, file);
	log_error(dev, error);
	return error;
}

/* The thread may have made a change after nobody waited for it any more. */
static bool was_made(const struct io_fault_file *file, int error)
{
	return error == -ENOENT &&
	       (file->kind == IO_FAULT_FILE_AWAY || file->kind == IO_FAULT_FILE_BACK);
}

void io_fault_files_again(struct io_faults *f)
{
	int error;

	while (f->n_late && change(f, f->late[0].dev, &f->late[0].file, &error)) {
		if (!was_made(&f->late[0].file, error))
			log_error(f->late[0].dev, error);
		memmove(f->late, f->late + 1, --f->n_late * sizeof(*f->late));
	}
}
