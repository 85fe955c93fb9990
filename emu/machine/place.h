/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where something stands in a JSON text: the parser says it of what it cannot read only, and a
 * wrong key or value needs it as well.
 */
#ifndef MACHINE_PLACE_H
#define MACHINE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* One step into the text: the member "key" of an object, or element "index" of a list. */
struct machine_step {
	const char *key; /* NULL: index counts */
	size_t index;
};

struct machine_place {
	unsigned line, column; /* from 1; columns are bytes */
};

/*
 * The place of the value at the end of the steps, or with "of_key" of the key in front of it. As
 * far as the steps lead; the text must be JSON.
 */
struct machine_place machine_place_find(const char *text, const struct machine_step *step,
					unsigned n, bool of_key);

#endif
