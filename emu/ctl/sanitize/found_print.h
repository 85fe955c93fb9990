/* SPDX-License-Identifier: BSD-2-Clause */
/* How findings are written. */
#ifndef FOUND_PRINT_H
#define FOUND_PRINT_H

#include "found.h"

#include <stdio.h>

enum found_print_format { FOUND_PRINT_TEXT, FOUND_PRINT_JSON, FOUND_PRINT_SARIF };

/* As they come: text is for people, JSON is an object on a line, SARIF comes at the end. */
void found_print_text(FILE *out, const struct found *f);
void found_print_json(FILE *out, const struct found *f);

/*
 * A result of SARIF 2.1.0, which the caller keeps in a list; and the whole log of such a list,
 * which is taken over. Paths below the working directory are written as they are from there.
 */
json_t *found_sarif_result(const struct found *f);
void found_print_sarif(FILE *out, json_t *results);

#endif
