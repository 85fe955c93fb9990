/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that a process leaves with the collector, for what other processes may find: the one at
 * the other end of a connection does not know who has registered the memory that it names. In
 * diagnostic.c, with findings.
 */
#ifndef UHCAV_NOTE_H
#define UHCAV_NOTE_H

#include "stack.h"

/* From now on it is what this name means; the collector is not waited for. Any thread. */
void uhcav_diagnostic_note(const struct uhcav_stack *stack, const char *name);

#endif
