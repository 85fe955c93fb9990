/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --help and the man page of a program whose options (and commands) are a table of names and texts.
 * uhcad and uhcactl have tables of their own beside getopt_long(3), argp and popt: one row holds an
 * option's argument, its limits and its text, from which the parser, --help and the man page come;
 * argp and popt know no man page and no limits, print in a form of their own, and would be a second
 * table. uhca-run, which passes on what it does not know, uses getopt_long(3).
 */
#ifndef HELP_PAGE_H
#define HELP_PAGE_H

#include <stdio.h>

/* A row of --help: the name, and the text beside it in lines of up to 80 columns. */
void help_page_row(FILE *out, const char *name, const char *text);

/* The same as a paragraph of a man page (groff_man(7), .TP). */
void help_page_man_row(FILE *out, const char *name, const char *text);

#endif
