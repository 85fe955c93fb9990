/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the sanitizer found, as the collector has it: the line that came (emu/abi/sanitize.h), with
 * the names of its frames looked up.
 */
#ifndef FOUND_H
#define FOUND_H

#include "emu/abi/sanitize.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define FOUND_FACTS  32u
#define FOUND_STACKS 16u
#define FOUND_FRAMES 48u

struct found_frame {
	const char *module; /* "": none */
	uint64_t address;   /* in the module */
	uint64_t pc;
	const char *function; /* NULL: not known; as for file */
	const char *symbol;   /* what the linker calls it; NULL: not known, or put into another */
	const char *file;
	int line;
};

struct found_stack {
	const char *title;
	struct found_frame frames[FOUND_FRAMES];
	unsigned n_frames;
};

/* Strings belong to the line, or to who looked them up. */
struct found {
	json_t *line;
	enum uhca_check check;
	const char *program, *what;
	json_int_t pid, thread;
	const char *facts[FOUND_FACTS];
	unsigned n_facts;
	struct found_stack stacks[FOUND_STACKS];
	unsigned n_stacks;
};

/* About a check, in words. */
struct found_check {
	const char *name, *group, *rule, *where, *mend;
};
const struct found_check *found_check(enum uhca_check check);

/* It says what a reader may want to know, and is no mistake: it counts for nothing. */
bool found_is_note(const struct found *f);

/* Takes a line, and owns it; 0 or -EINVAL: it is not such a line. What is too much is left out. */
int found_parse(json_t *line, struct found *out);

/* Looks up what all frames are called. */
void found_look_up(struct found *f);

/* Is it one only if it happened in a verb, and did not? After found_look_up. */
bool found_is_moot(const struct found *f);

/*
 * The frame that a reader looks at first: the innermost one of the first stack that is the
 * program's, not a library's of RDMA. NULL: there is none.
 */
const struct found_frame *found_place(const struct found *f);

#endif
