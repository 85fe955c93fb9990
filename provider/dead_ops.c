/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See dead_ops.h. Each op is called with an object, or a context; the functions have the types of
 * none of them, as one fits all: what they take goes in registers, and so does what they return.
 */
#include "dead_ops.h"

#include "provider/gone/gone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool begins(const char *op, const char *with)
{
	return !strncmp(op, with, strlen(with));
}

static bool makes_object(const char *op)
{
	return begins(op, "alloc_") || begins(op, "create_") || begins(op, "reg_") ||
	       begins(op, "open_") || begins(op, "import_");
}

/* As programs call it. */
static const char *call_of(const char *op, char call[64])
{
	static const char *const others[][2] = {
		{"async_event", "ibv_get_async_event"},
		{"cq_event", "ibv_get_cq_event"},
		{"free_context", "ibv_close_device"},
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(op, others[i][0]))
			return others[i][1];
	snprintf(call, 64, "ibv_%s", op);
	return call;
}

/* What the call returns. A post says which request was refused: the first. */
static uintptr_t refuse(struct uhcav_here here, const char *op, const void *object, void *second,
			void **third)
{
	char call[64];

	/* ibv_bind_mw goes by the window. */
	uhcav_gone_report_call(here, call_of(op, call), strcmp(op, "bind_mw") ? object : second);
	if (begins(op, "post_") && strcmp(op, "post_srq_ops") && third)
		*third = second;
	errno = EINVAL;
	if (!strcmp(op, "poll_cq"))
		return (uintptr_t)-1;
	return makes_object(op) ? 0 : EINVAL;
}

#define UHCAV_OP(op, since)                                                                        \
	static uintptr_t dead_##op(const void *object, void *second, void **third)                 \
	{                                                                                          \
		return refuse(UHCAV_HERE, #op, object, second, third);                             \
	}
#include "ops.def"
#undef UHCAV_OP

void uhcav_dead_ops_build(int generation, void *table[UHCAV_OP_SLOTS])
{
	static void *const functions[UHCAV_OP_COUNT] = {
#define UHCAV_OP(op, since) [UHCAV_OP_##op] = (void *)dead_##op,
#include "ops.def"
#undef UHCAV_OP
	};
	static const int since[UHCAV_OP_COUNT] = {
#define UHCAV_OP(op, first) [UHCAV_OP_##op] = (first),
#include "ops.def"
#undef UHCAV_OP
	};
	int slot = 0;

	memset(table, 0, UHCAV_OP_SLOTS * sizeof(table[0]));
	for (unsigned i = 0; i < UHCAV_OP_COUNT; i++)
		if (since[i] <= generation)
			table[slot++] = functions[i];
}
