/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the process that listens at an instance's socket may have a program's memory. Whoever can
 * put a directory where UHCA_DIR says could listen there in the daemon's place.
 */
#ifndef UHCAV_WHO_LISTENS_H
#define UHCAV_WHO_LISTENS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * May the user "listener" have the memory of a process of user "me"? He may if he is me or root.
 * root's programs, and no others, may use the daemon of another user, too (the daemon lets in its
 * own user and root): that of who owns the directory, which nobody else can enter.
 */
bool uhcav_may_have_memory(uid_t listener, uid_t me, const struct stat *dir);

/* 0 if that is so of who listens at the other end of sock, in dir; -EPERM or -errno if not. */
int uhcav_check_listener(int sock, const char *dir);

#endif
