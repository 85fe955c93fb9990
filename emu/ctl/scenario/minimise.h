/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a program again with fewer and fewer of the parts of its plan: which of them does a failure
 * need? Delta debugging (Zeller and Hildebrandt's ddmin): in the end no single part can be left
 * out.
 */
#ifndef CTL_MINIMISE_H
#define CTL_MINIMISE_H

#include <stdbool.h>

#define MINIMISE_MAX 1024

struct minimise {
	unsigned n;     /* parts, at most MINIMISE_MAX */
	unsigned times; /* tries of each set of parts; a set fails when one of them does */
	bool count;     /* tries go on behind a failure, to count the others */
	bool known;     /* all parts together fail; else that is tried first */
	int status;     /* of the failure; 0: any failure is the one that is looked for */
	/* One try with the parts whose keep is true: an exit status, or < 0: it cannot be made. */
	int (*run)(struct minimise *m);
	/* After the tries of a set, of which so many failed. NULL: none. */
	void (*on_tried)(const struct minimise *m, unsigned failed, int status);
	void *arg;
	/* In the end: */
	bool keep[MINIMISE_MAX]; /* parts that are needed */
	unsigned left;           /* how many these are */
	unsigned runs;           /* tries that were made */
	unsigned failed;         /* tries of the last set that failed */
};

enum minimise_result {
	MINIMISE_FOUND,
	MINIMISE_PASSES,  /* nothing fails with all parts */
	MINIMISE_WITHOUT, /* it fails with no part at all as well */
	MINIMISE_CANNOT,  /* a try could not be made */
};

/* Where all parts together are tried first, the status of that failure is then looked for. */
enum minimise_result minimise(struct minimise *m);

#endif
