/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks that a process leaves with the collector for reports of its peers. See left.h. */
#include "left.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define NAME 96u

static void name_of(struct uhcav_left of, char name[NAME])
{
	snprintf(name, NAME, "%s %016llx 0x%x %s", of.kind, (unsigned long long)of.guid, of.number,
		 of.what);
}

void uhcav_left_add(struct uhcav_context *ctx, const char *kind, uint32_t number, const char *what,
		    const struct uhcav_stack *stack)
{
	int saved = errno;
	char name[NAME];

	name_of((struct uhcav_left){kind, uhcav_device_guid(ctx), number, what}, name);
	uhcav_diagnostic_note(stack, name);
	errno = saved;
}

void uhcav_left_report(struct uhcav_left of, const char *title, ...)
{
	char name[NAME], text[NAME];
	va_list arguments;

	va_start(arguments, title);
	vsnprintf(text, sizeof(text), title, arguments);
	va_end(arguments);
	name_of(of, name);
	uhcav_diagnostic_stack_of(name, "%s", text);
}
