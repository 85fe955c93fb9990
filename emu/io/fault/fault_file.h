/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of fault rules: a rule on each line; lines that are empty or begin with '#' say nothing.
 */
#ifndef IO_FAULT_FILE_H
#define IO_FAULT_FILE_H

#include "emu/fault/plan/plans.h"
#include "emu/fault/rule/rules.h"

#include <stddef.h>
#include <stdint.h>

struct io_faults;

#define IO_FAULT_FILE_MAX (1 << 22) /* bytes */

/* What came of a file. */
struct io_fault_loaded {
	unsigned rules; /* added */
	unsigned line;  /* of the error, from 1; 0: the error has no place */
	struct fault_error error;
};

/*
 * The text of a regular file, which the caller frees; NULL with out->error filled in: it cannot
 * be read, is no file, or is too long.
 */
char *io_fault_read(const char *path, size_t *len, struct io_fault_loaded *out);

/* The rules of a text, parsed and in no plan: at most FAULT_RULES_MAX. */
struct io_fault_rules {
	struct io_fault_line_rule {
		struct fault_record *rule;
		unsigned line; /* from 1; 0: of a trace */
	} * at;
	unsigned n, cap;
};

/*
 * Parses all rules of a text, or none; any thread may. 0, -EINVAL or -ENOMEM with out->error and
 * out->line filled in.
 */
int io_fault_parse(const char *text, struct io_fault_rules *all, struct io_fault_loaded *out);

/* The same with the rules that do again what a trace of this name tells (plan_trace.h). */
int io_fault_parse_trace(const char *name, const char *text, size_t len, struct io_fault_rules *all,
			 struct io_fault_loaded *out);
void io_fault_rules_free(struct io_fault_rules *all);

/*
 * Adds them all, or none, and frees what was not added. 0, -EINVAL or -ENOMEM as above. The caller
 * says io_faults_changed.
 */
int io_fault_take(struct io_faults *f, struct io_fault_rules *all, uint64_t now,
		  struct io_fault_loaded *out);

/* The rules of a file, for which it waits: 0 or -errno. */
int io_fault_load(struct io_faults *f, const char *path, uint64_t now, struct io_fault_loaded *out);

#endif
