/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as the trace of a plan: it is refused with a line that is in it, or each rule that is
 * made of it can be read.
 */
#include "fuzz.h"

#include "emu/fault/plan/plan_trace.h"

#include <errno.h>
#include <string.h>

static int rule(void *user, const char *text)
{
	struct fault_rule r;
	struct fault_error e;
	unsigned *n = user;

	FUZZ_CHECK(strlen(text) < FAULT_TEXT_MAX && fault_rule_parse(text, &r, &e) == 0);
	/* The owner may have enough. */
	return ++*n == 1000 ? -ENOSPC : 0;
}

static void note(void *user, const char *text)
{
	(void)user;
	FUZZ_CHECK(*text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fault_replay_ops ops = {rule, note};
	struct fault_trace_error e;
	unsigned n = 0, lines = 1;
	uint64_t seed;
	int status;

	memset(&e, 'x', sizeof(e));
	status = fault_trace_to_plan((const char *)data, size, &seed, &ops, &n, &e);
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	FUZZ_CHECK(status == 0 || status == -EINVAL || (status == -ENOSPC && n == 1000));
	if (status == -EINVAL)
		FUZZ_CHECK(e.line <= lines && e.text[0] && memchr(e.text, '\0', sizeof(e.text)));
	return 0;
}
