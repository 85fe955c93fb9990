/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device /dev/infiniband/rdma_cm, as librdmacm uses it: open, write, poll, close (ucma.h of
 * the control protocol tells what stands behind). All functions keep to the conventions of the
 * call they serve: -1 and errno.
 */
#ifndef UHCA_PRELOAD_UCMA_H
#define UHCA_PRELOAD_UCMA_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Is this (mapped) path the device? */
bool uhca_ucma_is_path(const char *path);

/* A new open of the device; O_CLOEXEC and O_NONBLOCK of flags count. */
int uhca_ucma_open(int flags);

/* Is the descriptor such an open? Costs nothing in processes that opened none. Keeps errno. */
bool uhca_ucma_is_ours(int fd);

/* What fstat(2) said of one of ours becomes what it says of the device. */
void uhca_ucma_disguise(int fd, struct stat *st);

/* A command of the kernel's rdma_cm interface: its length, or -1. */
ssize_t uhca_ucma_write(int fd, const void *buf, size_t count);

#endif
