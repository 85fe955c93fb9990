/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libibverbs believes a descriptor to be a context's when fstat(2) says that it is the device
 * file it knows (ibv_import_device). Ours is a memory file (context/context_file.h), so for that
 * one, and no other, the answer is that of the device file.
 */
#include "real.h"
#include "ucma.h"
#include "uverbs.h"

#include <sys/stat.h>

#define EXPORT __attribute__((visibility("default")))

int __fxstat(int version, int fd, struct stat *st);
int __fxstat64(int version, int fd, struct stat64 *st);

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout on 64-bit machines");

static int ask(int fd, struct stat *st)
{
	int result = uhca_real_fstat(fd, st);

	if (result == 0 && uhca_root()) {
		uhca_uverbs_disguise(fd, st);
		uhca_ucma_disguise(fd, st);
	}
	return result;
}

EXPORT int fstat(int fd, struct stat *st)
{
	return ask(fd, st);
}

EXPORT int fstat64(int fd, struct stat64 *st)
{
	return ask(fd, (struct stat *)(void *)st);
}

EXPORT int __fxstat(int version, int fd, struct stat *st)
{
	(void)version;
	return ask(fd, st);
}

EXPORT int __fxstat64(int version, int fd, struct stat64 *st)
{
	(void)version;
	return ask(fd, (struct stat *)(void *)st);
}
