/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends calls that libibverbs and librdmacm make to the C library elsewhere, without anything
 * preloaded: the slots of their global offset tables get other contents (no_preload.c says which).
 */
#ifndef UHCAV_GOT_H
#define UHCAV_GOT_H

/* A call by its symbol, and the function that takes it. */
struct uhcav_got_call {
	const char *name;
	void *answer;
};

/*
 * Makes the calls of every libibverbs and librdmacm that is loaded now go to their answers; a list
 * ends with a name of NULL. Slots that have been filled before are left alone, so it may be
 * repeated when something was loaded. Returns the number of slots that lead to an answer; 0 means
 * that there is nothing to patch (no shared object, or not of this architecture).
 */
unsigned uhcav_got_patch(const struct uhcav_got_call *calls);

#endif
