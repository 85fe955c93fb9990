/* SPDX-License-Identifier: BSD-2-Clause */
/* The slots by which programs call the functions of memory. See hearing.h. */
#include "hearing.h"

#include <dlfcn.h>
#include <errno.h>

void uhcav_hearing_listen(struct uhcav_got_call *calls)
{
	bool all = true;

	for (struct uhcav_got_call *c = calls; c->name; c++) {
		if (!c->behind)
			c->behind = dlsym(RTLD_DEFAULT, c->name);
		all &= c->behind != NULL;
	}
	if (all)
		uhcav_got_patch_all(calls);
}

const struct uhcav_stack *uhcav_hearing_stack(struct uhcav_here here)
{
	return uhcav_stack_is_busy() ? NULL : uhcav_stack_take(here);
}

void uhcav_hearing_change(struct uhcav_here here, enum uhcav_change_kind kind, const char *call,
			  const void *addr, size_t length)
{
	uintptr_t from = (uintptr_t)addr;
	int saved = errno;

	if (length && uhcav_ranges_meet(from, from + length))
		uhcav_ranges_change(&(struct uhcav_change){.kind = kind,
							   .call = call,
							   .from = from,
							   .to = from + length,
							   .stack = uhcav_hearing_stack(here)});
	errno = saved;
}
