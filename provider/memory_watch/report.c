/* SPDX-License-Identifier: BSD-2-Clause */
/* The reports of changed and of freed memory. See report.h. */
#include "report.h"

#include <stddef.h>

static const struct {
	const char *was;  /* "memory that was ..." */
	const char *verb; /* "... by" */
} words[] = {
	[UHCAV_UNMAPPED] = {"unmapped", "unmapped"},
	[UHCAV_MAPPED] = {"replaced: something else was mapped over it", "replaced"},
	[UHCAV_DROPPED] = {"given back to the system: it has new, empty pages", "given back"},
	[UHCAV_MOVED] = {"moved away", "moved"},
	[UHCAV_FREED] = {"freed", "freed"},
};

const char *uhcav_memory_verb(enum uhcav_change_kind kind)
{
	return words[kind].verb;
}

void uhcav_memory_report(const struct uhcav_memory_use *use, const struct uhcav_change *c)
{
	enum uhca_check check =
		c->kind == UHCAV_FREED ? UHCA_CHECK_MEMORY_FREED : UHCA_CHECK_MEMORY_REPLACED;

	if (!uhcav_diagnostic_is_new(check, use->stack ? use->stack : use->made, c->stack))
		return;
	uhcav_diagnostic_begin(check, "%s registered memory that was %s", use->what,
			       words[c->kind].was);
	if (use->request)
		uhcav_diagnostic_request(use->request);
	uhcav_diagnostic_fact("%llu bytes at 0x%llx, of memory region 0x%x",
			      (unsigned long long)use->length, (unsigned long long)use->at,
			      use->number);
	uhcav_diagnostic_fact("%s, %llu bytes at 0x%llx", c->call,
			      (unsigned long long)(c->to - c->from), (unsigned long long)c->from);
	uhcav_diagnostic_stack(use->stack, "%s", use->title);
	uhcav_diagnostic_stack(c->stack, "%s by", words[c->kind].verb);
	uhcav_diagnostic_stack(use->made, "memory region 0x%x registered by", use->number);
	uhcav_diagnostic_report();
}

void uhcav_memory_settle(void)
{
	struct uhcav_change c;
	struct uhcav_range r;

	while (uhcav_ranges_take(&r, &c)) {
		const struct uhcav_memory_use use = {.what = "peers may use",
						     .at = r.from,
						     .length = r.to - r.from,
						     .number = r.number,
						     .made = r.made};
		uhcav_memory_report(&use, &c);
	}
}
