/* SPDX-License-Identifier: BSD-2-Clause */
/* Words as a shell takes them. */
#ifndef CTL_SHELL_WORD_H
#define CTL_SHELL_WORD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Adds a word to the command line in out, of so many bytes: between quotes where a shell would not
 * take it as it is. False: there is no room, and out is as it was.
 */
bool ctl_add_shell_word(char *out, size_t cap, const char *word);

#endif
