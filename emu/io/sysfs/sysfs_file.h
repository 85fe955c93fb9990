/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes files of one line, and links, in a folder: what sysfs is made of. Folders above them are
 * made where they are missing.
 */
#ifndef IO_SYSFS_FILE_H
#define IO_SYSFS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSFS_PATH 256
#define SYSFS_POOL "lines"
#define SYSFS_LINE 512

/* A folder that files are put into. After the first error nothing more is done. */
struct sysfs_tree {
	int root;
	char base[SYSFS_PATH]; /* in front of each path */
	int error;
	/*
	 * Files and links of one content are one, in the folder SYSFS_POOL: a file takes some file
	 * systems twenty times as long as another name for it. Nothing may write into them.
	 */
	bool pooled;
};

/* 0 or -errno of open(2). */
int sysfs_open(struct sysfs_tree *t, const char *dir);

/* 0, or the first error. */
int sysfs_close(struct sysfs_tree *t);

/* In front of the names that follow. */
__attribute__((format(printf, 2, 3))) void sysfs_base(struct sysfs_tree *t, const char *format,
						      ...);

/* A file with one line. */
__attribute__((format(printf, 3, 4))) void sysfs_write(struct sysfs_tree *t, const char *name,
						       const char *format, ...);

/* A file of any bytes; an empty folder. */
void sysfs_bytes(struct sysfs_tree *t, const char *name, const void *bytes, size_t n);
void sysfs_folder(struct sysfs_tree *t, const char *name);

/* The same for a file that somebody may be reading. */
void sysfs_replace(struct sysfs_tree *t, const char *name, const char *text);

/* The number in a file; 0 when there is none. */
unsigned sysfs_number(const struct sysfs_tree *t, const char *name);

void sysfs_link(struct sysfs_tree *t, const char *name, const char *target);

/* A link, unless something of that name is there. */
void sysfs_link_beside(struct sysfs_tree *t, const char *name, const char *target);

/* A link in place of what is there. */
void sysfs_link_over(struct sysfs_tree *t, const char *name, const char *target);

/* Entries of a folder that can be opened and not read, as attributes of empty GIDs. */
void sysfs_unreadable(struct sysfs_tree *t, const char *folder, unsigned first, unsigned end);

/* What makes readable entries unreadable later, when nobody can make a link: sysfs_change.h. */
void sysfs_spares(struct sysfs_tree *t, const char *folder, unsigned first, unsigned end);

/* Four or eight groups of hexadecimal digits. */
const char *sysfs_guid_text(uint64_t guid, char out[24]);
const char *sysfs_gid_text(const uint8_t gid[16], char out[40]);

/* One file for each index from "first" to before "end": all say the same. */
void sysfs_column(struct sysfs_tree *t, const char *folder, unsigned first, unsigned end,
		  const char *text);

#endif
