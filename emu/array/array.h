/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays that grow as entries are put behind their last one. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Room for one more entry of "each" bytes behind n of them, where there is room for *room; array is
 * the address of the pointer to the first one. False: no memory, and nothing has changed.
 */
static inline bool array_make_room(void *array, unsigned n, unsigned *room, size_t each)
{
	const unsigned more = *room ? 2 * *room : 16;
	void *p;

	if (n < *room)
		return true;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, more * each);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*room = more;
	return true;
}

#endif
