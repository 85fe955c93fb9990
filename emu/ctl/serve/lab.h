/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lab beside the page: its text, the student's program, and the check. scripts/lab has started
 * the server and waits: the server writes a line "check" when a page asks for one, scripts/lab runs
 * it, puts what it says into a file, and answers "done STATUS". The server itself starts no
 * program. It reads and writes files of fixed names in two folders, which are open before it
 * listens.
 */
#ifndef SERVE_LAB_H
#define SERVE_LAB_H

#include "source.h"

#include <jansson.h>
#include <stdbool.h>

#define LAB_TEXT_MAX    (128u << 10) /* bytes of a lab's text or picture */
#define LAB_PROGRAM_MAX (48u << 10)  /* of the student's program */
#define LAB_SAID_MAX    (16u << 10)  /* of what a check says */

struct serve_lab {
	const char *name; /* NULL: this page has no lab */
	int texts;        /* folder of the lab in docs/tutorials/labs */
	int work;         /* folder of the student; the server's working directory */
	int ask, reply;   /* to and from scripts/lab */
	unsigned number;  /* of the last check; 0: there was none */
	bool running;
	int status;       /* of the last check that has ended; -1: none has */
	unsigned version; /* another one whenever something here is another */
};

/* Opens both folders and goes to the second. 0 or -errno. */
int lab_begin(struct serve_lab *l, const char *texts, const char *work);

/* What a page needs of it; NULL: no memory. */
json_t *lab_describe(const struct serve_lab *l);

/* The part of it that changes, for the stream of events. */
json_t *lab_state(const struct serve_lab *l);

/* From malloc; NULL: there is none. */
char *lab_picture(const struct serve_lab *l);

/* Keeps the program. 0 or -errno: EFBIG, -EBUSY while a check runs, or the file system's. */
int lab_keep(struct serve_lab *l, const char *program);

/* Orders a check of what was kept. 0 or -errno: EBUSY while one runs. */
int lab_check(struct serve_lab *l);

/* What scripts/lab has written; its capture is read then. False: scripts/lab has ended. */
bool lab_hear(struct serve_lab *l, struct serve_source *s);

#endif
