/* SPDX-License-Identifier: BSD-2-Clause */
/* What uhca-fault(7) says of the words of a rule, for "uhcactl fault help". */
#ifndef CTL_FAULT_HELP_H
#define CTL_FAULT_HELP_H

#include <stdbool.h>
#include <stdio.h>

/* The lines of the manual page, ended by NULL; made at build time. */
extern const char *const fault_page[];

/* Lists all words with the beginning of what is said of each. */
void ctl_fault_help(FILE *out);

/* Explains one, in all its forms; false: there is no such word. Case does not matter. */
bool ctl_fault_help_word(FILE *out, const char *word);

/* The words that it knows, as words_names has it; table is not used. */
const char *ctl_fault_word_at(const void *table, unsigned i);

#endif
