/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of a JSON text into structs, by a table of their members. Whatever is wrong is said once,
 * with its place in the text; a member that no row names is refused with the nearest name.
 */
#ifndef MACHINE_FIELDS_H
#define MACHINE_FIELDS_H

#include "place.h"

#include <jansson.h>
#include <stdint.h>

#define FIELDS_DEPTH 8

/* A text that is being read. Owner: machine_read. */
struct reading {
	const char *text, *name; /* the file */
	char *error;
	size_t cap;
	bool failed;
	struct machine_step step[FIELDS_DEPTH]; /* to the value that is looked at */
	unsigned depth;
};

enum field_kind {
	FIELD_TEXT,   /* into an array of size bytes */
	FIELD_NUMBER, /* decimal, or "0x..." in a text: from min to max, into an int */
	FIELD_GUID,   /* "b859:9f03:00ab:cdef" into a uint64_t */
	FIELD_CHOICE, /* a word: its place in choices, into an unsigned */
	FIELD_TAKE,   /* "take" looks at it */
	FIELD_WORDS,  /* a text for people, which is not kept */
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset, size;
	long min, max;
	const char *const *choices; /* ends with NULL */
	void (*take)(struct reading *r, const json_t *value, void *into);
	bool (*ok)(const char *text); /* FIELD_TEXT: is it one? NULL: any is */
	const char *what;             /* what it must be, for words */
};

#define FIELD_AT(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* Says what is wrong with the value that is looked at (with its key), unless something was said. */
__attribute__((format(printf, 2, 3))) void fields_fail(struct reading *r, const char *format, ...);
__attribute__((format(printf, 2, 3))) void fields_fail_key(struct reading *r, const char *format,
							   ...);

/* Into and out of a member or an element. */
void fields_enter(struct reading *r, const char *key, size_t index);
void fields_leave(struct reading *r);

/* Reads the members of an object over what is there. The table ends with a row without key. */
void fields_read(struct reading *r, const json_t *object, const struct field *rows, void *into);

/* The place of the word in choices; -1, and said: it is none of them. */
int fields_choice(struct reading *r, const json_t *value, const char *key,
		  const char *const *choices);

/* As FIELD_GUID takes it. */
void fields_guid(struct reading *r, const json_t *value, uint64_t *to);

/* A number as FIELD_NUMBER takes it; false, and said, when it is none. */
bool fields_number(struct reading *r, const json_t *value, long min, long max, long *out);

/* Calls "each" with every element of a list of at most "most". */
void fields_list(struct reading *r, const json_t *list, size_t most,
		 void (*each)(struct reading *r, const json_t *value, void *into), void *into);

#endif
