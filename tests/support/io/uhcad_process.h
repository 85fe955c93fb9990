/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon as a process of its own: the uhcad of the build ($UHCA_BUILDDIR), on an address of
 * this test. It ends with the test, whatever ends that.
 */
#ifndef TESTS_SUPPORT_UHCAD_PROCESS_H
#define TESTS_SUPPORT_UHCAD_PROCESS_H

#include "emu/io/base/base.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct uhcad_process {
	char dir[64];
	char address[IO_ADDRESS_TEXT]; /* of this process: the same for all its daemons */
	pid_t pid;
	int ready; /* read end */
	int said;  /* its standard output and error; a file, if the test has opened nothing else */
};

/* Starts it in d->dir with these options (NULL behind the last); said is a file then. */
void uhcad_spawn(struct uhcad_process *d, char *const *extra);

/* The same with said as it is. */
void uhcad_spawn_saying(struct uhcad_process *d, char *const *extra);

/* What came on the ready descriptor until it was closed. */
const char *uhcad_wait_ready(struct uhcad_process *d);

/* Starts it in a fresh directory, and waits until it is ready. */
void uhcad_start(struct uhcad_process *d, char *const *extra);

/* Waits for the end; returns the exit status, 128 and more for a signal. used may be NULL. */
int uhcad_wait_end(struct uhcad_process *d, struct rusage *used);

/* Is there something of this name in its directory? */
bool uhcad_has(const struct uhcad_process *d, const char *name);

/* What is in the file said. */
const char *uhcad_said(struct uhcad_process *d);

/* Closes said, removes the directory. */
void uhcad_clean(struct uhcad_process *d);

#endif
