/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rules of a daemon did, as lines of plan_trace.h in memory. Of hits the oldest go when
 * there are too many; what tells of the plan and of rules that come and go stays, so that what is
 * left can still be read.
 */
#ifndef IO_FAULT_TRACE_H
#define IO_FAULT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define IO_FAULT_TRACE_MAX 65536 /* lines of each kind */

struct io_fault_line {
	uint64_t number; /* of all lines that ever were, from 0 */
	bool is_hit;
	char *text; /* owned; NULL: there was no memory */
};

struct io_fault_trace {
	struct io_fault_line *ring; /* the last ones; NULL: none came yet */
	struct io_fault_line *kept; /* older ones that are no hits */
	unsigned n_kept, max_kept;
	uint64_t count; /* lines that ever were */
	uint64_t lost;  /* hits that went */
};

void io_fault_trace_add(struct io_fault_trace *t, const char *text, bool is_hit);

/* The first line whose number is at least "from"; NULL: there is none. Valid until the next add. */
const struct io_fault_line *io_fault_trace_from(const struct io_fault_trace *t, uint64_t from);

void io_fault_trace_destroy(struct io_fault_trace *t);

#endif
