/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --known FILE: findings that are accepted. A line has
 *
 *	FINDING RUN [PATTERN]
 *
 * FINDING is crash, hang, leak, misuse, passed, failed or *; RUN and PATTERN are patterns of the
 * shell, of the name of the run and of the first line or any frame of the finding.
 */
#ifndef SWEEP_KNOWN_H
#define SWEEP_KNOWN_H

#include "sweep_result.h"

struct sweep_known;

/* file NULL: none is known. 0, or -errno with the reason and its line printed. */
int sweep_known_read(const char *file, struct sweep_known **out);
void sweep_known_free(struct sweep_known *known);

bool sweep_known_has(struct sweep_known *known, const struct sweep_item *item,
		     const struct sweep_diagnostic *diagnostic);

/* Tells on standard error which lines applied to nothing. */
void sweep_known_print_unused(const struct sweep_known *known);

#endif
