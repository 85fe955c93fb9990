/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * madvise(MADV_POPULATE_*) does the whole job on kernels that have it (5.14): it touches every
 * page with the access asked for and fails where a touch would have been a signal. Older kernels
 * answer EINVAL to the advice itself; then the list of mappings is read instead.
 */
#include "mem_probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

/* One line of /proc/self/maps against the range; *next is the first address not yet covered. */
static bool line_covers(const char *line, uintptr_t *next, bool writable)
{
	uintptr_t from, to;
	char perms[5];

	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, perms) != 3)
		return true;
	if (to <= *next)
		return true;
	if (from > *next || perms[0] != 'r' || (writable && perms[1] != 'w'))
		return false;
	*next = to;
	return true;
}

int uhcav_mem_probe_maps(uintptr_t start, uintptr_t end, bool writable)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t next = start;
	char *line = NULL;
	size_t room = 0;
	bool covered = true;

	if (!maps)
		return -errno;
	while (covered && next < end && getline(&line, &room, maps) > 0)
		covered = line_covers(line, &next, writable);
	free(line);
	fclose(maps);
	return covered && next >= end ? 0 : -EFAULT;
}

/* EINVAL says "special mapping or wrong protection" too, so the advice is tried on a good page. */
static bool populate_works(void)
{
	static int known; /* 0: not tried, 1: yes, 2: no */
	int k = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (k == 0) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (p == MAP_FAILED)
			return false;
		k = madvise(p, page, MADV_POPULATE_WRITE) == 0 ? 1 : 2;
		munmap(p, page);
		__atomic_store_n(&known, k, __ATOMIC_RELAXED);
	}
	return k == 1;
}

int uhcav_mem_probe(const void *addr, size_t length, bool writable)
{
	uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t start = (uintptr_t)addr & ~mask;
	uintptr_t end;
	int err;

	if (__builtin_add_overflow((uintptr_t)addr, length ? length : 1, &end) || end > ~mask)
		return -EFAULT;
	end = (end + mask) & ~mask;
	if (!populate_works())
		return uhcav_mem_probe_maps(start, end, writable);
	do {
		err = madvise((void *)start, end - start,
			      writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	} while (err && (errno == EAGAIN || errno == EINTR));
	return err ? -EFAULT : 0;
}
