/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See shm.h. Order matters in create: the daemon's own writable mapping must exist before
 * F_SEAL_FUTURE_WRITE is set, which leaves existing mappings alone.
 */
#include "shm.h"

#include "emu/io/base/base.h"

#include "emu/io/local/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE (1u << 20) /* memory whose end takes longer than to have somebody else do it */

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static size_t round_to_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (size == 0 || size > SIZE_MAX / 2)
		return 0;
	return (size + page - 1) & ~(page - 1);
}

/* Kernels before 6.3 refuse the flag that newer ones ask for. */
static int open_memfd(const char *name)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd;
}

static int seal(int fd, bool read_only)
{
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	if (read_only)
		seals |= F_SEAL_FUTURE_WRITE;
	return fcntl(fd, F_ADD_SEALS, seals);
}

int io_shm_create(struct io_shm *shm, const char *name, size_t size, bool read_only)
{
	int error;

	*shm = (struct io_shm){.fd = -1, .size = round_to_pages(size)};
	if (shm->size == 0)
		return -EINVAL;
	shm->fd = open_memfd(name);
	if (shm->fd < 0) {
		error = -errno;
		io_log(IO_LOG_ERROR,
		       "memfd_create(2): %s: memory that is shared with programs cannot be made. "
		       "In a container: a seccomp profile that allows memfd_create and fcntl",
		       strerror(-error));
		return error;
	}
	if (ftruncate(shm->fd, (off_t)shm->size) < 0)
		goto fail;
	shm->base = mmap(NULL, shm->size, PROT_READ | PROT_WRITE, MAP_SHARED, shm->fd, 0);
	if (shm->base == MAP_FAILED) {
		shm->base = NULL;
		goto fail;
	}
	if (seal(shm->fd, read_only) < 0)
		goto fail;
	return 0;
fail:
	error = errno;
	io_shm_destroy(shm);
	return -error;
}

void io_shm_drop_fd(struct io_shm *shm)
{
	if (shm->fd >= 0)
		close(shm->fd);
	shm->fd = -1;
}

void io_shm_destroy(struct io_shm *shm)
{
	if (shm->base && shm->size > LARGE)
		io_reaper_unmap(shm->base, shm->size);
	else if (shm->base)
		munmap(shm->base, shm->size);
	io_shm_drop_fd(shm);
	*shm = (struct io_shm){.fd = -1};
}
