/* SPDX-License-Identifier: BSD-2-Clause */
/* What hearing a call has in common, whatever the call. */
#ifndef UHCAV_MEMORY_HEARING_H
#define UHCAV_MEMORY_HEARING_H

#include "provider/base/base.h"
#include "ranges.h"

#include <stddef.h>

/* Looks up what is behind the calls, and stands before it. All of a list, or none. */
void uhcav_hearing_listen(struct uhcav_got_call *calls);

/*
 * The stack of a call that was heard. NULL where this thread is taking another one: an allocator
 * that this module waits for has made the call.
 */
const struct uhcav_stack *uhcav_hearing_stack(struct uhcav_here here);

/* This has happened to [addr, addr + length): noted where a range has a part of it. Keeps errno. */
void uhcav_hearing_change(struct uhcav_here here, enum uhcav_change_kind kind, const char *call,
			  const void *addr, size_t length);

#endif
