// SPDX-License-Identifier: BSD-2-Clause
// To be preloaded into programs of libfabric (hasty): /proc/kallsyms is empty. The library looks
// there twice, through all of its lines (120,000), for what the kernel's RDMA core can do with the
// memory of accelerators, of which there is none here; that is 0.15 s of each process.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

typedef FILE *(*fopen_fn)(const char *, const char *);

PUBLIC FILE *fopen(const char *restrict path, const char *restrict mode)
{
	static fopen_fn next;

	if (!next)
		next = (fopen_fn)dlsym(RTLD_NEXT, "fopen");
	return next(strcmp(path, "/proc/kallsyms") == 0 ? "/dev/null" : path, mode);
}
