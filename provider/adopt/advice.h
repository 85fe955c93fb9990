/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program asks of the system about memory that is adopted, where the answer for a file's
 * pages is another than for private ones: the preload library asks here first. Nothing here
 * allocates or takes a lock, because allocators call it.
 */
#ifndef UHCAV_ADVICE_H
#define UHCAV_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * madvise(2) of [addr, addr + length): makes what of it is adopted private again where the advice
 * needs that, so that the system's own answer is right. MADV_DONTNEED and MADV_FREE: the program
 * has fresh pages there afterwards, the device keeps the old ones.
 */
void uhcav_advice_madvise(void *addr, size_t length, int advice);

/*
 * Do this process's calls come here? Others may stand in front of the preload library, or have
 * changed its code (UCX's memory hooks do such things).
 */
bool uhcav_advice_is_heard(void);

/* mremap(2) of [addr, addr + length): it is private afterwards. */
void uhcav_advice_mremap(void *addr, size_t length);

#endif
