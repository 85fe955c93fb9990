/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wr_ids that point to memory, and what of it was freed: a request has its wr_id from the post to
 * the completion, and the program takes it for a pointer then.
 */
#ifndef UHCAV_MEMORY_FREES_H
#define UHCAV_MEMORY_FREES_H

#include "provider/diagnostic/diagnostic.h"

#include <stdbool.h>
#include <stdint.h>

/* A request with this wr_id is outstanding; or is no longer. Numbers are no pointers. */
void uhcav_frees_watch(uint64_t wr_id);
void uhcav_frees_unwatch(uint64_t wr_id);

/* Is one of these in [from, to), as far as is worth knowing? Cheap. */
bool uhcav_frees_wanted(uintptr_t from, uintptr_t to);

/* This was freed. Any thread, in the midst of anything. */
void uhcav_frees_note(uintptr_t from, uintptr_t to, const struct uhcav_stack *stack);

/* The time: how much was freed so far. */
uint64_t uhcav_frees_now(void);

/* Was memory that it points to freed since then? NULL: not that we know; the stack. */
const struct uhcav_stack *uhcav_frees_find(uint64_t wr_id, uint64_t since);

#endif
