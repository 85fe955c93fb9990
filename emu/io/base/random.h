/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that nobody can guess.
 */
#ifndef IO_RANDOM_H
#define IO_RANDOM_H

#include <stddef.h>

/* Fills buf; a system that has no random bytes ends the process. */
void io_random(void *buf, size_t len);

#endif
