/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks by name, as people give them on a command line. The only part of the model with I/O. */
#ifndef FABRIC_FILE_MODULE_H
#define FABRIC_FILE_MODULE_H

#include "emu/fabric/topo/topo.h"

/*
 * Makes the network that "name" says, in t, which init has made: the text of a file, when there is
 * a dot or a slash in the name before its colon, else what a generator makes ("one-switch:8").
 * 0, -EINVAL or -ENOMEM, with a message of up to cap bytes in error: FILE:LINE:COLUMN: TEXT.
 */
int fabric_topology_load(struct fabric_topology *t, const char *name, char *error, size_t cap);

/* An error as a message: "where" is a file, or what an option gave. */
void fabric_error_text(const struct fabric_error *e, const char *where, char *text, size_t cap);

#endif
