/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings that are known and not to be told. A file has one on each line,
 *
 *   CHECK KIND PATTERN
 *
 * CHECK is the name of a check or * for each; KIND is "function", "file" (of the source) or
 * "object" (program or library); PATTERN is one of the shell's and matches the whole name, of a
 * file or an object also what stands behind its last slash. It matches a finding when it matches a
 * frame of its first stack. Empty lines, and what stands behind #, are skipped.
 */
#ifndef SUPPRESS_H
#define SUPPRESS_H

#include "found.h"

#include <stdbool.h>

/* Adds a file's. 0, or -errno with the error printed. */
int suppress_read(const char *path);

bool suppress_has(const struct found *f);

#endif
