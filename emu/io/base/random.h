/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random bytes that cannot be guessed (getrandom(2)).
 */
#ifndef IO_RANDOM_H
#define IO_RANDOM_H

#include <stddef.h>

/* Fills buf; a system that has no random bytes ends the process. */
void io_random(void *buf, size_t len);

#endif
