/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call stacks, each kept once: two equal stacks are one pointer, which lives as long as the
 * process. Addresses are return addresses of the process; what they mean is looked up by who tells
 * of them.
 */
#ifndef UHCAV_STACK_H
#define UHCAV_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define UHCAV_STACK_DEPTH 32u

struct uhcav_stack {
	struct uhcav_stack *next; /* of the same bucket */
	uint32_t hash;
	uint32_t n;
	uint32_t reported; /* the process that reported it to the collector (note.h); locked */
	uintptr_t pc[];    /* innermost first: the caller of the verb */
};

/* For one of any depth that is not kept. */
union uhcav_stack_room {
	struct uhcav_stack stack;
	char room[sizeof(struct uhcav_stack) + UHCAV_STACK_DEPTH * sizeof(uintptr_t)];
};

/* Where a watching function was called from: taken there, by UHCAV_HERE. */
struct uhcav_here {
	uintptr_t pc;    /* its return address */
	uintptr_t frame; /* and its frame: with the former it tells most stacks apart */
};

#define UHCAV_HERE                                                                                 \
	((struct uhcav_here){                                                                      \
		(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)),             \
		(uintptr_t)__builtin_frame_address(0)})

/*
 * The stack that called the function which says "here". Never NULL: without memory or an unwinder
 * it is the one address that is known, or none. Any thread, not in a signal handler.
 */
const struct uhcav_stack *uhcav_stack_take(struct uhcav_here here);

/*
 * The stack of this thread, from the first frame on that is not this library's: in the midst of
 * its work, for what happens rarely.
 */
const struct uhcav_stack *uhcav_stack_outside(void);

/*
 * In a handler of a signal: the stack of what it interrupted at pc, whose own address comes first,
 * as if it were a return address. At most UHCAV_STACK_DEPTH go to "out"; returns how many. Nothing
 * is kept, and no unwinder is loaded: uhcav_stack_take has done so before.
 */
uint32_t uhcav_stack_interrupted(uintptr_t pc, uintptr_t *out);

/* Is this thread keeping one just now? Who is called in the midst of it takes none. */
bool uhcav_stack_is_busy(void);

/* The one that is kept for these addresses; n is cut to UHCAV_STACK_DEPTH. */
const struct uhcav_stack *uhcav_stack_keep(const uintptr_t *pc, uint32_t n);

/*
 * Did code of this library make the call: the first frame beyond libibverbs and libuhca lies in an
 * object file whose name begins so?
 */
bool uhcav_stack_is_of(const struct uhcav_stack *s, const char *library);

/* Does a frame of it lie in an object file whose name begins so? */
bool uhcav_stack_has(const struct uhcav_stack *s, const char *library);

/* Held across a fork, as those of the other modules (sanitize.c): the child finds whole lists. */
extern pthread_mutex_t uhcav_stack_lock;

#endif
