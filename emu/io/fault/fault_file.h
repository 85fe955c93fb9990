/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of fault rules: a rule on each line; lines that are empty or begin with '#' say nothing.
 */
#ifndef IO_FAULT_FILE_H
#define IO_FAULT_FILE_H

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

/*
 * Adds all rules of a text, or none. 0, -EINVAL or -ENOMEM with out->error and out->line filled
 * in. The caller says io_faults_changed.
 */
int io_fault_add_lines(struct io_faults *f, const char *text, uint64_t now,
		       struct io_fault_loaded *out);

/* Both: 0 or -errno. */
int io_fault_load(struct io_faults *f, const char *path, uint64_t now, struct io_fault_loaded *out);

/* Adds the rules that do again what a trace tells (plan_trace.h); as io_fault_load. */
int io_fault_replay(struct io_faults *f, const char *path, uint64_t now,
		    struct io_fault_loaded *out);

#endif
