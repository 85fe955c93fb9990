/* SPDX-License-Identifier: BSD-2-Clause */
/* The output of a run as lines that can be compared: without numbers, addresses and our own. */
#ifndef SWEEP_TEXT_H
#define SWEEP_TEXT_H

/*
 * The lines of the output that are not among those of "known" (another such text; NULL: none), each
 * once, sorted. Numbers are N. Lines of uhca-run and all behind a hang are left out. The caller
 * frees it; NULL: no memory.
 */
char *sweep_text_said(const char *output, const char *known);

/* The threads and their stacks of a command that did not end; "" where there was none. */
char *sweep_text_hang(const char *output);

/*
 * What an address sanitizer or leak sanitizer of the program itself reported: its line, without
 * numbers, and its first stack. what: NULL, when there is none. The caller frees both.
 */
void sweep_text_asan(const char *output, const char *name, char **what, char **stack);

#endif
