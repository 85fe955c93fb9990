/* SPDX-License-Identifier: BSD-2-Clause */
/* Quotes words for a shell (shell_word.h). */
#include "shell_word.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 4 /* bytes that one letter becomes */

bool ctl_add_shell_word(char *out, size_t cap, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%";
	size_t n = strlen(out);
	bool quotes = !*word || word[strspn(word, plain)];

	if (n + LONGEST * (strlen(word) + 1) > cap)
		return false;
	n += (size_t)sprintf(out + n, "%s%s", n ? " " : "", quotes ? "'" : "");
	for (; *word; word++)
		n += (size_t)sprintf(out + n, *word == '\'' ? "'\\''" : "%c", *word);
	strcpy(out + n, quotes ? "'" : "");
	return true;
}
