/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * madvise and mremap: memory of the program that the device has adopted is a file's, and some
 * answers of the system would be others than for the private memory that the program knows. The
 * provider makes it private first.
 *
 * Allocators call these, at any time, so that nothing here allocates or waits.
 */
#include "hooks.h"
#include "real.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int madvise(void *addr, size_t length, int advice)
{
	const struct uhca_preload_hooks *p = uhca_preload_provider();

	if (p)
		p->madvise(addr, length, advice);
	return UHCA_REAL(madvise) ? UHCA_REAL(madvise)(addr, length, advice)
				  : (int)syscall(SYS_madvise, addr, length, advice);
}

EXPORT void *mremap(void *addr, size_t old_length, size_t new_length, int flags, ...)
{
	const struct uhca_preload_hooks *p = uhca_preload_provider();
	void *to = NULL;
	va_list ap;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(ap, void *);
	va_end(ap);
	if (p)
		p->mremap(addr, old_length);
	return UHCA_REAL(mremap)
		       ? UHCA_REAL(mremap)(addr, old_length, new_length, flags, to)
		       : (void *)syscall(SYS_mremap, addr, old_length, new_length, flags, to);
}
