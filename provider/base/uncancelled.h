/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs are no cancellation points (pthreads(7)): a kernel's are ioctl(2) and stores to a mapped
 * page, which are none. What we do in their place has such points, with locks held: a thread that
 * is cancelled meanwhile goes on until its call is done.
 */
#ifndef UHCAV_UNCANCELLED_H
#define UHCAV_UNCANCELLED_H

#include <pthread.h>
#include <unistd.h>

/* Returns what uhcav_cancel_back() takes, in the same thread. Both may be nested; errno stays. */
static inline int uhcav_cancel_off(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void uhcav_cancel_back(int before)
{
	pthread_setcancelstate(before, NULL);
}

/* close(2), which is a cancellation point. */
static inline void uhcav_close(int fd)
{
	int before = uhcav_cancel_off();

	close(fd);
	uhcav_cancel_back(before);
}

#endif
