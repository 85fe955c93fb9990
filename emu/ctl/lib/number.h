/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as people and other programs write them. */
#ifndef CTL_NUMBER_H
#define CTL_NUMBER_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * All of the text, in this base of strtoull(3), without a sign or blanks. False: it is no number up
 * to "most".
 */
static inline bool ctl_number(const char *text, int base, uint64_t most, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, base);
	return isdigit((unsigned char)*text) && !*end && !errno && *out <= most;
}

#endif
