/* SPDX-License-Identifier: BSD-2-Clause */
/* See marker.h; mmap(2): before Linux 4.17 MAP_FIXED_NOREPLACE is no more than a wish. */
#include "marker.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

void *uhcav_marker_map(uint64_t where)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *wanted = (void *)(uintptr_t)where, *at = MAP_FAILED;
	int saved = errno;

	if (where != 0 && where <= UINTPTR_MAX - page)
		at = mmap(wanted, page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (at != MAP_FAILED && at != wanted) {
		munmap(at, page);
		at = MAP_FAILED;
	}
	if (at != MAP_FAILED) {
		madvise(at, page, MADV_DONTFORK);
		*(volatile char *)at = 0; /* it is there, and nobody has to bring it */
	}
	errno = saved;
	return at == MAP_FAILED ? NULL : at;
}

void uhcav_marker_unmap(void *page)
{
	if (page)
		munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}
