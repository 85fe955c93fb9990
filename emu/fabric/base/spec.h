/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of the form NAME[:KEY=VALUE[,KEY=VALUE]...]: topologies, workloads, congestion controls.
 * The first value may stand without its key ("fat-tree:4").
 */
#ifndef FABRIC_SPEC_H
#define FABRIC_SPEC_H

#include "quantity.h"

#include <stdbool.h>

struct fabric_spec_key {
	const char *name; /* NULL ends a list */
	enum fabric_unit unit;
	uint64_t min;
	uint64_t max;
	uint64_t *value; /* keeps what it is when the key is not given */
};

struct fabric_error {
	unsigned line; /* 1 and up; 0: the text has one line */
	unsigned column;
	char text[400];
};

/* Says at which column of the text what is wrong. Returns -EINVAL. */
int fabric_refuse(struct fabric_error *e, const char *text, const char *at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The length of the name before the colon. */
size_t fabric_spec_name(const char *text);

/*
 * Stores the values of a text. keys: those that there are; the first one may be left out before its
 * value. 0 or -EINVAL.
 */
int fabric_spec_read(const char *text, const struct fabric_spec_key *keys, struct fabric_error *e);

/* Reads one value of a key, the length bytes at "at" in the text. 0 or -EINVAL. */
int fabric_spec_value(const char *text, const char *at, size_t length,
		      const struct fabric_spec_key *key, struct fabric_error *e);

/* The key of a list that has the length bytes at "at" for its name; NULL: said in e. */
const struct fabric_spec_key *fabric_spec_key(const char *text, const char *at, size_t length,
					      const struct fabric_spec_key *keys,
					      struct fabric_error *e);

#endif
