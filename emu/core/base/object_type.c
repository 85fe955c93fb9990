/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up the row of an object's type: name, destroy, visit. */
#include "object_type.h"

#include <assert.h>

static void add(struct facts *f, struct core_fact fact)
{
	assert(f->n < CORE_MAX_FACTS);
	f->fact[f->n++] = fact;
}

void facts_number(struct facts *f, const char *name, uint64_t value)
{
	add(f, (struct core_fact){name, NULL, value, false});
}

void facts_hex(struct facts *f, const char *name, uint64_t value)
{
	add(f, (struct core_fact){name, NULL, value, true});
}

void facts_text(struct facts *f, const char *name, const char *value)
{
	add(f, (struct core_fact){name, value, 0, false});
}
