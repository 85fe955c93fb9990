/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says of pinned memory. */
#ifndef SUPPORT_ARENA_HOLDS_H
#define SUPPORT_ARENA_HOLDS_H

#include <stdbool.h>
#include <stddef.h>

/* Does [at, at + length) lie in the arena? */
bool arena_holds(const void *at, size_t length);

#endif
