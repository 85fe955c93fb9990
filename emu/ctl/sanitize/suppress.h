/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings that are known and not to be told. A file has one on each line,
 *
 *   CHECK KIND PATTERN [KIND PATTERN]...
 *
 * CHECK is the name of a check or * for each. KIND is "function", "file" (of the source) or
 * "object" (program or library), which look at the frames of the first stack, "fact", which looks
 * at the lines above the stacks, or "program", the name of what the process runs. PATTERN is one of
 * the shell's, without white space, and matches the whole name or line, of a file or an object also
 * what stands behind its last slash. It matches a finding when each KIND PATTERN does. Empty lines,
 * and what stands behind #, are skipped.
 */
#ifndef SUPPRESS_H
#define SUPPRESS_H

#include "found.h"

#include <stdbool.h>

enum suppressed { SUPPRESSED_NOT, SUPPRESSED_AS_STOCK, SUPPRESSED_BY_USER };

/* Adds a file's, the user's or the one that comes with uhca. 0, or -errno with the error printed.
 */
int suppress_read(const char *path, bool stock);

/* Whose suppression has it? The user's counts before that of uhca. */
enum suppressed suppress_has(const struct found *f);

#endif
