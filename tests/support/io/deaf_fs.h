/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file system that lets its one file be opened and answers nothing that is asked of it then:
 * what a network file system is whose server is gone. FUSE, mounted where nobody but this process
 * and its children sees it, and served by a child, which ends with this process whatever ends it:
 * else who waits for the file system would wait for ever, and keep it.
 */
#ifndef TESTS_SUPPORT_DEAF_FS_H
#define TESTS_SUPPORT_DEAF_FS_H

#include <stdbool.h>
#include <stdint.h>

struct deaf_fs;

/*
 * Mounts it on a folder that exists. Leaves this process in a mount namespace of its own (and, for
 * users who may not mount, a user namespace). NULL where the system lets us have none of it; *why
 * is the reason.
 */
struct deaf_fs *deaf_fs_mount(const char *dir, const char **why);

/*
 * The same with a file that says of itself, when it is found, that it is a socket, with this inode
 * number; it cannot be opened but by O_PATH.
 */
struct deaf_fs *deaf_fs_mount_socket(const char *dir, uint64_t inode, const char **why);

/* From now on it answers all that a writer asks, or nothing again. What waits is not answered. */
void deaf_fs_hear(struct deaf_fs *fs, bool hears);

/* Takes it away from the folder. All who wait for it get an error. */
void deaf_fs_end(struct deaf_fs *fs, const char *dir);

#endif
