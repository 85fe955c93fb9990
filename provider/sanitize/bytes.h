/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's memory, looked at from outside: it may have gone, and that must be found and not
 * stumbled over.
 */
#ifndef UHCAV_BYTES_H
#define UHCAV_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A sum of length bytes at addr that differs, all but surely, when a bit of them does. False: a
 * part of them is not mapped or cannot be read. Any thread.
 */
bool uhcav_bytes_sum(uint64_t addr, uint64_t length, uint64_t *sum);

/*
 * The same of each of a number of equal parts (the last one may be shorter, or empty), from the
 * first-th on; sums has room for all.
 */
bool uhcav_bytes_sums(uint64_t addr, uint64_t length, uint32_t parts, uint32_t first,
		      uint64_t *sums);

/* Where the n-th part begins; *length is its own. */
uint64_t uhcav_bytes_part(uint64_t all, uint32_t parts, uint32_t n, uint64_t *length);

/* Copies them. False as above, and then "to" holds anything. */
bool uhcav_bytes_copy(uint64_t addr, size_t length, void *to);

/* Can the byte there be read? */
bool uhcav_bytes_are_there(uint64_t addr);

/*
 * Sums are taken from the memory itself from now on, which is several times as fast. Only where
 * provider/crash/ hears signals, and where no pages are protected by provider/page_watch/.
 */
void uhcav_bytes_directly(void);

/* In a fork's child: it is another process, whose bytes are its own. */
void uhcav_bytes_forget(void);

#endif
