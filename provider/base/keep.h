/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of an object's memory. The sanitizer keeps it a while (provider/gone/), so that a program
 * which uses the object all the same is told so; without it, it is freed at once.
 */
#ifndef UHCAV_KEEP_H
#define UHCAV_KEEP_H

#include <stdlib.h>

/* Takes over what malloc(3) gave; NULL: nobody does. Set once, before there are objects. */
extern void (*uhcav_keeper)(void *object);

/* An object was destroyed: its memory is not ours any more. */
static inline void uhcav_let_go(void *object)
{
	if (uhcav_keeper)
		uhcav_keeper(object);
	else
		free(object);
}

#endif
