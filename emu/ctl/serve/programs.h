/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs that had a device open while the page looked, as they can be started again. */
#ifndef SERVE_PROGRAMS_H
#define SERVE_PROGRAMS_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#define PROGRAMS_MAX 32
#define COMMAND_MAX  1024

struct serve_program {
	int pid;
	uint64_t started;          /* clock ticks since the machine's start */
	char command[COMMAND_MAX]; /* for a shell */
};

struct serve_programs {
	struct serve_program at[PROGRAMS_MAX]; /* in the order in which they were started */
	unsigned n;
};

/* Takes in who is in the table of clients and was not known. */
void programs_note(struct serve_programs *p, const json_t *clients);

/*
 * Their statements of a scenario. Two that have the same number in their command lines talk by
 * this TCP port: the second waits until the first listens.
 */
void programs_print(FILE *out, const struct serve_programs *p);

#endif
