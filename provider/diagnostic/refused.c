/* SPDX-License-Identifier: BSD-2-Clause */
/* See refused.h. An object that is in use has a check of its own, which says who uses it. */
#include "refused.h"

#include "diagnostic.h"
#include "emu/abi/errno_name.h"

#include <errno.h>
#include <string.h>

static unsigned troubles; /* atomic */

void uhcav_diagnostic_trouble(void)
{
	__atomic_fetch_add(&troubles, 1, __ATOMIC_RELAXED);
}

unsigned uhcav_diagnostic_troubles(void)
{
	return __atomic_load_n(&troubles, __ATOMIC_RELAXED);
}

void uhcav_diagnostic_refused(const char *library, const char *why, int err)
{
	const struct uhcav_stack *stack;
	const char *name;
	int saved = errno;

	uhcav_diagnostic_trouble();
	if (!uhcav_check_on(UHCA_CHECK_CALL_REFUSED) ||
	    (err == EBUSY && uhcav_check_on(UHCA_CHECK_OBJECT_BUSY)))
		return;
	stack = uhcav_stack_outside();
	name = uhca_errno_name(err);
	if (uhcav_diagnostic_is_new(UHCA_CHECK_CALL_REFUSED, stack, NULL)) {
		uhcav_diagnostic_begin(UHCA_CHECK_CALL_REFUSED, "%s%s (%s)", library, why,
				       name ? name : "an error");
		uhcav_diagnostic_stack(stack, "called by");
		uhcav_diagnostic_report();
	}
	errno = saved;
}
