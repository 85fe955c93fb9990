/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a verb returns that returns an errno value: kernel providers leave it in errno as well, and
 * programs print it from there (%m).
 */
#ifndef UHCAV_RESULT_H
#define UHCAV_RESULT_H

#include <errno.h>
#include <stdlib.h>

/* Of 0 or an errno value: the same, and errno set when it is one. */
static inline int uhcav_failed(int err)
{
	if (err)
		errno = err;
	return err;
}

/* Of 0 or -errno. */
static inline int uhcav_result(int err)
{
	return uhcav_failed(-err);
}

/* Of -errno, for a verb that returns an object: there is none, what was begun of it is freed. */
static inline void *uhcav_no_object(void *begun, int err)
{
	free(begun);
	errno = -err;
	return NULL;
}

#endif
