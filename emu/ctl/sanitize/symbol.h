/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of addresses, by the tables of the files that they are in (elfutils' libdw). */
#ifndef SYMBOL_H
#define SYMBOL_H

#include "found.h"

/*
 * Fills in function, file and line of a return address, as far as the module's symbols and debug
 * information have them. Debug information is looked for in the module and in a file of its own, by
 * build ID (Debian's -dbgsym packages) and by name; no server is asked. Functions that the compiler
 * put into others come as frames of their own: "frame" has room for max, the innermost first.
 * Returns how many there are, 1 at least. The strings live as long as the process.
 */
unsigned symbol_look_up(struct found_frame *frame, unsigned max);

#endif
