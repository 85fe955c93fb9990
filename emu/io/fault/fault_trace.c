/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the trace of the rules in memory, and drops its oldest hits. */
#include "fault_trace.h"

#include <stdlib.h>
#include <string.h>

static bool grow_kept(struct io_fault_trace *t)
{
	unsigned max = t->max_kept ? 2 * t->max_kept : 64;
	struct io_fault_line *kept;

	if (t->n_kept < t->max_kept)
		return true;
	if (max > IO_FAULT_TRACE_MAX)
		return false;
	kept = realloc(t->kept, max * sizeof(*kept));
	if (!kept)
		return false;
	t->kept = kept;
	t->max_kept = max;
	return true;
}

/* The oldest line makes room. */
static void retire(struct io_fault_trace *t, struct io_fault_line *l)
{
	if (l->text && !l->is_hit && grow_kept(t)) {
		t->kept[t->n_kept++] = *l;
	} else {
		t->lost += l->is_hit;
		free(l->text);
	}
	l->text = NULL;
}

void io_fault_trace_add(struct io_fault_trace *t, const char *text, bool is_hit)
{
	struct io_fault_line *l;

	if (!t->ring)
		t->ring = calloc(IO_FAULT_TRACE_MAX, sizeof(*t->ring));
	if (!t->ring)
		return;
	l = &t->ring[t->count % IO_FAULT_TRACE_MAX];
	if (t->count >= IO_FAULT_TRACE_MAX)
		retire(t, l);
	*l = (struct io_fault_line){.number = t->count++, .is_hit = is_hit, .text = strdup(text)};
}

const struct io_fault_line *io_fault_trace_from(const struct io_fault_trace *t, uint64_t from)
{
	uint64_t oldest = t->count > IO_FAULT_TRACE_MAX ? t->count - IO_FAULT_TRACE_MAX : 0;

	for (unsigned i = 0; i < t->n_kept; i++)
		if (t->kept[i].number >= from)
			return &t->kept[i];
	if (from < oldest)
		from = oldest;
	for (; from < t->count; from++)
		if (t->ring[from % IO_FAULT_TRACE_MAX].text)
			return &t->ring[from % IO_FAULT_TRACE_MAX];
	return NULL;
}

void io_fault_trace_destroy(struct io_fault_trace *t)
{
	for (unsigned i = 0; t->ring && i < IO_FAULT_TRACE_MAX; i++)
		free(t->ring[i].text);
	for (unsigned i = 0; i < t->n_kept; i++)
		free(t->kept[i].text);
	free(t->ring);
	free(t->kept);
	*t = (struct io_fault_trace){.ring = NULL};
}
