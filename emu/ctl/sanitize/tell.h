/* SPDX-License-Identifier: BSD-2-Clause */
/* How findings are written. */
#ifndef TELL_H
#define TELL_H

#include "found.h"

#include <stdio.h>

enum tell_format { TELL_TEXT, TELL_JSON, TELL_SARIF };

/* As they come: text is for people, JSON is an object on a line, SARIF comes at the end. */
void tell_text(FILE *out, const struct found *f);
void tell_json(FILE *out, const struct found *f);

/*
 * A result of SARIF 2.1.0, which the caller keeps in a list; and the whole log of such a list,
 * which is taken over. Paths below the working directory are written as they are from there.
 */
json_t *tell_sarif_result(const struct found *f);
void tell_sarif(FILE *out, json_t *results);

#endif
