/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a range of our own address space there, and may it be written? The daemon reaches our memory
 * through a descriptor that ignores page protections, so registration asks this first (what the
 * kernel does when it pins pages), and brings the pages in.
 */
#ifndef UHCAV_MEM_PROBE_H
#define UHCAV_MEM_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * 0, or -EFAULT when a part of the range is not mapped, not readable or (writable) may not be
 * written. A length of 0 probes the page of addr.
 */
int uhcav_mem_probe(const void *addr, size_t length, bool writable);

/* The same by /proc/self/maps, for kernels before 5.14; exported for its test. */
int uhcav_mem_probe_maps(uintptr_t start, uintptr_t end, bool writable);

#endif
