/* SPDX-License-Identifier: BSD-2-Clause */
/* Applies memory rules to accesses of client memory. */
#include "fault_mem.h"

#include "emu/io/base/base.h"
#include "emu/io/serve/serve.h"
#include "faults.h"

static bool hits(struct io_faults *f, struct io_client *c, const struct core_span *span)
{
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct fault_subject s;
	unsigned n;

	io_fault_subject(&s, FAULT_LAYER_MEMORY, c->dev, c);
	s.address = span->addr;
	s.length = span->length;
	n = io_faults_decide(f, c->dev, &s, io_clock_now(), hit);
	for (unsigned i = 0; i < n; i++)
		if (hit[i]->rule.action == FAULT_MEM_FAIL)
			return true;
	return false;
}

/* Where the program has it. Memory of the device is not the program's, unless it is pinned. */
static bool is_of_program(const struct io_client *c, struct core_span *span)
{
	return span->space == CORE_SPACE_CLIENT || core_pinned_at(c->core, span->addr, &span->addr);
}

bool io_fault_mem(struct io_faults *f, struct io_client *c, const struct core_span *span,
		  unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct core_span s = span[i];

		if (is_of_program(c, &s) && hits(f, c, &s))
			return true;
	}
	return false;
}
