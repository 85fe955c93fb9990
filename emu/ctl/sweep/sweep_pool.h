/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of a sweep side by side: as many as there are processors, and some more beside those that
 * take long, which mostly wait. Each is a process group of its own.
 */
#ifndef SWEEP_POOL_H
#define SWEEP_POOL_H

#include "sweep_item.h"

#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define SWEEP_SLOTS_MAX 256

/* What a run may write to, each of its own: emptied before the next one. */
struct sweep_slot {
	pid_t pid; /* 0: free */
	unsigned index;
	uint64_t began;
	bool signalled;          /* to end */
	char output[PATH_MAX];   /* of the command and of uhca-run */
	char report[PATH_MAX];   /* of the sanitizer, for people */
	char findings[PATH_MAX]; /* the same as JSON */
	char record[PATH_MAX];   /* what the rules did */
	char temp[PATH_MAX];     /* a folder for the command */
};

struct sweep_pool {
	const char *dir; /* a folder for all of this */
	unsigned jobs;   /* processors */
	unsigned limit;  /* seconds, after which a run is told to end */
	double usual;    /* seconds of the good run; 0: not known */
	sigset_t before; /* signal mask of the runs */
	/* In the child: becomes run "index", and does not return. */
	void (*become)(void *arg, const struct sweep_slot *slot, unsigned index);
	/* It has ended with this exit status. */
	void (*ended)(void *arg, const struct sweep_slot *slot, int status, double seconds);
	/* Has the run been made before? NULL: none has. */
	bool (*is_done)(void *arg, unsigned index);
	void *arg;
	bool shows; /* progress, on standard error */
	struct sweep_slot slot[SWEEP_SLOTS_MAX];
};

/* Blocks the signals that end a sweep, and SIGCHLD. */
void sweep_pool_hold_signals(struct sweep_pool *pool);

/*
 * Makes n runs, from index 0. 0; the number of the signal that has interrupted it (all runs have
 * ended then); or -errno with the reason printed.
 */
int sweep_pool_run(struct sweep_pool *pool, unsigned n);

#endif
