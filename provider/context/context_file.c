/* SPDX-License-Identifier: BSD-2-Clause */
/* A memfd of one record. The seals keep whoever is given the descriptor from changing it. */
#include "context_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

int uhcav_context_file_put(int cmd_fd, const struct uhca_abi_context_file *file)
{
	int fd = memfd_create(UHCA_ABI_CONTEXT_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, file, sizeof(*file)) != (ssize_t)sizeof(*file) ||
	    fcntl(fd, F_ADD_SEALS, SEALS) || dup3(fd, cmd_fd, O_CLOEXEC) < 0)
		err = errno ? -errno : -EIO;
	close(fd);
	return err;
}

int uhcav_context_file_get(int fd, struct uhca_abi_context_file *file)
{
	if (pread(fd, file, sizeof(*file), 0) != (ssize_t)sizeof(*file) ||
	    memcmp(file->magic, UHCA_ABI_CONTEXT_MAGIC, sizeof(file->magic)) ||
	    !memchr(file->device, '\0', sizeof(file->device)))
		return -EINVAL;
	return 0;
}
