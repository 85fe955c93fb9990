/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is to be known of each type of object where all are treated alike: at the end of a client,
 * and when a person looks. Each module has a row for its own (object_mr, object_cq, ...); objects.c
 * lists them.
 */
#ifndef CORE_OBJECT_TYPE_H
#define CORE_OBJECT_TYPE_H

#include "emu/core/contract/verbs.h"

#include <stddef.h>

/* An object as a list of facts (core_visit). */
struct facts {
	struct core_fact fact[CORE_MAX_FACTS];
	unsigned n;
};

/* One fact more; names and texts are static. */
void facts_number(struct facts *f, const char *name, uint64_t value);
void facts_hex(struct facts *f, const char *name, uint64_t value);
void facts_text(struct facts *f, const char *name, const char *value);

struct object_type {
	enum core_object_type type; /* CORE_OBJECT_TYPES: not one that is shown */
	const char *name;
	size_t table;  /* offset in struct device */
	uint32_t kind; /* struct object.kind: types may share a table */
	bool shared;   /* by the clients of a group (group.h) */
	/* Frees it whatever its use count; the verb that destroys one is the polite way. */
	void (*destroy)(void *object);
	void (*describe)(const void *object, struct facts *f);
	uint32_t (*count)(const struct device *dev); /* NULL: as many as the table has */
};

#endif
