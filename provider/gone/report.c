/* SPDX-License-Identifier: BSD-2-Clause */
/* The reports of a use of a destroyed object. See report.h. */
#include "report.h"

#include "tomb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORDS 64u

/* "queue pair 0x11", or without a number. */
static const char *words_of(const struct uhcav_tomb *t, char words[WORDS])
{
	if (t->number)
		snprintf(words, WORDS, "%s 0x%x", t->kind, t->number);
	else
		snprintf(words, WORDS, "%s", t->kind);
	return words;
}

static bool is_destruction(const char *call)
{
	static const char *const calls[] = {"ibv_destroy_", "ibv_dealloc_", "ibv_dereg_",
					    "ibv_free_",    "ibv_close_",   "rdma_destroy_",
					    "rdma_ack_"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strncmp(call, calls[i], strlen(calls[i])))
			return true;
	return false;
}

static void report(const char *call, const struct uhcav_stack *stack, const struct uhcav_tomb *t,
		   bool itself)
{
	const char *end = t->end ? t->end : "destroyed";
	char words[WORDS];

	if (!uhcav_diagnostic_is_new(UHCA_CHECK_OBJECT_GONE, stack, t->destroyed))
		return;
	if (itself && is_destruction(call))
		uhcav_diagnostic_begin(UHCA_CHECK_OBJECT_GONE, "%s: this %s was %s already", call,
				       t->kind, end);
	else if (itself)
		uhcav_diagnostic_begin(UHCA_CHECK_OBJECT_GONE, "%s: this %s was %s before", call,
				       t->kind, end);
	else
		uhcav_diagnostic_begin(UHCA_CHECK_OBJECT_GONE, "%s: the object's %s was %s before",
				       call, t->kind, end);
	uhcav_diagnostic_fact("%s", words_of(t, words));
	uhcav_diagnostic_stack(stack, "%s called by", call);
	uhcav_diagnostic_stack(t->destroyed, "%s %s by", words, end);
	uhcav_diagnostic_stack(t->made, "%s made by", words);
	uhcav_diagnostic_report();
}

void uhcav_gone_report_call(struct uhcav_here here, const char *call, const void *object)
{
	struct uhcav_tomb t = {.kind = "object"};
	const void *context = NULL;
	int saved = errno;
	bool itself;

	if (object)
		memcpy(&context, object, sizeof(context));
	itself = uhcav_tomb_find(object, &t) || !uhcav_tomb_find(context, &t);
	report(call, uhcav_stack_take(here), &t, itself);
	errno = saved;
}

bool uhcav_gone_report_argument(struct uhcav_here here, const char *call, const void *object)
{
	if (!uhcav_tomb_has(object))
		return false;
	uhcav_gone_report_call(here, call, object);
	return true;
}

uintptr_t uhcav_gone_poll(const void *cq)
{
	uhcav_gone_report_call(UHCAV_HERE, "ibv_start_poll", cq);
	return errno = EINVAL;
}

uintptr_t uhcav_gone_post(const void *queue)
{
	uhcav_gone_report_call(UHCAV_HERE, "posting", queue);
	return errno = EINVAL;
}

uintptr_t uhcav_gone_copy(const void *dm)
{
	uhcav_gone_report_call(UHCAV_HERE, "copying", dm);
	return errno = EINVAL;
}

uintptr_t uhcav_gone_refuse(const void *object)
{
	(void)object;
	return errno = EINVAL;
}
