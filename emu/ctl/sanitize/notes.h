/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that processes have left for findings of others (emu/abi/sanitize.h), under the names of
 * what they made. All of them are of one user: only that one can enter the collector's folder.
 */
#ifndef NOTES_H
#define NOTES_H

#include <jansson.h>
#include <stdbool.h>

/* Is it a line of that kind? Then it is kept. */
bool notes_take(json_t *line);

/*
 * Completes a finding: stacks that it names get their frames, those of unknown names go; its cause
 * becomes a fact. False: another process has told the same.
 */
bool notes_complete(json_t *finding);

void notes_forget(void);

#endif
