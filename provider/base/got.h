/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends calls that libraries make to the C library elsewhere, without anything preloaded: the slots
 * of their global offset tables get other contents. no_preload.c says which of libibverbs and
 * librdmacm, pin/advice.c which of everybody.
 */
#ifndef UHCAV_GOT_H
#define UHCAV_GOT_H

#include <stdbool.h>

/* A call by its symbol, and the function that takes it. */
struct uhcav_got_call {
	const char *name;
	void *answer;
	void *behind; /* uhcav_got_patch_all: where it went so far */
	bool active;  /* the same: it has been patched; false to begin with */
};

/*
 * Makes the calls of every libibverbs and librdmacm that is loaded now go to their answers; a list
 * ends with a name of NULL. Slots that have been filled before are left alone, so it may be
 * repeated when something was loaded. Returns the number of slots that lead to an answer; 0 means
 * that there is nothing to patch (no shared object, or not of this architecture).
 */
unsigned uhcav_got_patch(const struct uhcav_got_call *calls);

/*
 * The same for all objects that are loaded now, but the C library and the one that this is part of.
 * A slot that leads to neither "behind" nor the answer, and is bound, is somebody else's: it is
 * left alone, and false returned. Several lists may have one call: who comes later is before the
 * others, and has them behind it. Cheap when nothing was loaded since the last call with this list.
 * Any thread.
 */
bool uhcav_got_patch_all(struct uhcav_got_call *calls);

#endif
