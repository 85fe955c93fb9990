/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a device (sysfs_tree.h) that change while it is there: of its port, of its GID table;
 * and all of them at once, when it goes and comes back. A reader sees the old or the new line. All
 * return 0 or -errno of open(2), write(2), rename(2) and the like.
 */
#ifndef IO_SYSFS_CHANGE_H
#define IO_SYSFS_CHANGE_H

#include "sysfs_tree.h"

/* What the files of an entry of the GID table say. */
struct io_gid_entry {
	uint8_t gid[16];        /* all zero: the entry is empty, and so are the others */
	char type[16];          /* "RoCE v2" */
	char ndev[IF_NAMESIZE]; /* "": it cannot be read */
};

/* One line of ports/1, as "rate" or "pkeys/0". */
int io_sysfs_line(const char *dir, const struct io_identity *id, const char *file,
		  const char *text);

/* An attribute of an empty entry can be opened, and not read. */
int io_sysfs_gid_write(const char *dir, const struct io_identity *id, unsigned index,
		       const struct io_gid_entry *e);

/* The device is in no list any more. -ENOENT: it is not there. */
int io_sysfs_take_away(const char *dir, const struct io_identity *id);

/*
 * It is there again, as what libibverbs takes for another device, with this number of its uverbs;
 * UINT_MAX: with the one that it had.
 */
int io_sysfs_bring_back(const char *dir, const struct io_identity *id, unsigned uverbs);

#endif
