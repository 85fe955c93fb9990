/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that uhcactl and uhca-run write: opened by emu/output/output.h, closed with a verdict.
 */
#ifndef CTL_FILE_H
#define CTL_FILE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Opens the file for writing, as output_open; "-" is standard output. NULL: who (the program) has
 * said why on standard error.
 */
FILE *ctl_file_open(const char *who, const char *path);

/*
 * Closes it; standard output is flushed and stays open. False when not all could be written, and
 * who has said why.
 */
bool ctl_file_close(const char *who, const char *path, FILE *f);

#endif
