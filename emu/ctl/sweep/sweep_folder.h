/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --sweep-folder FOLDER: results.jsonl, a line for each run behind one that says which sweep it is,
 * and the output of each run that found something. A sweep that was interrupted goes on from there.
 */
#ifndef SWEEP_FOLDER_H
#define SWEEP_FOLDER_H

#include "sweep_result.h"

#include <stdio.h>

struct sweep_folder {
	const char *path; /* NULL: none was asked for, and nothing is written */
	FILE *lines;
};

/*
 * Makes the folder, or reads the results of the same sweep that are in it; sweep says which one it
 * is and is dropped. results: memory of the caller's to free. 0; -errno with the reason printed:
 * another sweep is there.
 */
int sweep_folder_open(struct sweep_folder *folder, const char *path, json_t *sweep,
		      struct sweep_result **results, unsigned *n);

/* One that is done. */
void sweep_folder_write(struct sweep_folder *folder, const struct sweep_result *r);

/* Keeps what a run wrote, in a file of its name; text: as FILE is. */
void sweep_folder_keep(const struct sweep_folder *folder, const struct sweep_result *r,
		       const char *output, const char *report);

/* 0, -EIO: not all could be written, and said so. */
int sweep_folder_close(struct sweep_folder *folder);

#endif
