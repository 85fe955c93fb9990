/* SPDX-License-Identifier: BSD-2-Clause */
#include "rule_stage.h"

#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

struct fault_rule rule_parsed(const char *text)
{
	struct fault_rule r;
	struct fault_error e;

	memset(&r, 0xee, sizeof(r));
	if (fault_rule_parse(text, &r, &e))
		fail_msg("%s: column %u: %s", text, e.column, e.text);
	return r;
}

void rule_refused(const char *text, unsigned column, const char *part)
{
	struct fault_rule r;
	struct fault_error e;

	if (fault_rule_parse(text, &r, &e) != -EINVAL)
		fail_msg("'%s' is taken", text);
	if (e.column != column || !strstr(e.text, part))
		fail_msg("'%s': column %u: %s; wanted column %u: %s", text, e.column, e.text,
			 column, part);
}
