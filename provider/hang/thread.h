/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of this process as the kernel shows them (/proc/self/task): in which system call each
 * one waits, and for which descriptors. Libraries need not take part, and the program pays nothing.
 */
#ifndef UHCAV_HANG_THREAD_H
#define UHCAV_HANG_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define UHCAV_HANG_THREADS 256u
#define UHCAV_HANG_FDS     32u

enum uhcav_hang_does {
	UHCAV_HANG_RUNS,  /* or is in a call that ends without others, or in one we do not know */
	UHCAV_HANG_LOCK,  /* waits for another thread of the process, without a limit of time */
	UHCAV_HANG_FILES, /* waits for descriptors */
};

struct uhcav_hang_thread {
	pid_t tid;
	enum uhcav_hang_does does;
	bool limited; /* FILES: it waits for a limited time */
	unsigned n_fds;
	int fds[UHCAV_HANG_FDS];
	uint32_t edges; /* bits: which of them, by epoll, as EPOLLET */
	bool in_call;   /* of the system: this one, with this first argument */
	long call;
	uint64_t first;
	uint64_t key;      /* call, arguments and stack pointer */
	uint64_t since;    /* it has had this key at each tick; ms */
	uint64_t woken;    /* a sleep, or FILES without a limit: so often it has gone to sleep */
	uint64_t quiet;    /* as "since", and nothing has woken it meanwhile; ms */
	bool sleeps;       /* the call is a sleep */
	uint64_t sleep_ns; /* for so long; 0: until a given time */
	bool naps;  /* more than one such sleep since "since": a loop that looks and sleeps */
	bool polls; /* it is who polls a CQ in vain */
	bool seen;
};

struct uhcav_hang_threads {
	struct uhcav_hang_thread at[UHCAV_HANG_THREADS];
	unsigned n;
	bool all; /* false: there are more, or the kernel does not tell */
};

/* Looks at all threads but "self" and "other"; those that wait as before keep their "since". */
void uhcav_hang_threads_look(struct uhcav_hang_threads *t, uint64_t now, pid_t self, pid_t other);

/*
 * Is each thread that does not poll still in the call in which it was seen? One that answers a
 * signal is given some milliseconds to be there again.
 */
bool uhcav_hang_threads_stay(const struct uhcav_hang_threads *t);

/* Reads memory of this process that may have gone. */
bool uhcav_hang_peek(uint64_t at, void *to, size_t length);

#endif
