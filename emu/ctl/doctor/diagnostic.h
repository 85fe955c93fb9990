/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a check of the doctor finds. A check measures, then judges; the judgements that have a
 * choice are functions of what was measured, so that tests can be any machine.
 */
#ifndef DOCTOR_DIAGNOSTIC_H
#define DOCTOR_DIAGNOSTIC_H

enum doctor_mark {
	DOCTOR_GOOD,
	DOCTOR_NOTE, /* works, but slower, or some programs notice */
	DOCTOR_BAD,  /* keeps uhca from working */
};

struct doctor_diagnostic {
	enum doctor_mark mark;
	char text[256];
	char remedy[256]; /* empty: none, or none is needed */
};

/* Fills in a diagnostic; remedy may be NULL. */
void doctor_diagnostic_set(struct doctor_diagnostic *out, enum doctor_mark mark, const char *remedy,
			   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The number in a file such as those below /proc/sys, or -1 where there is none. */
long doctor_read_number(const char *path);

/* The number behind "name:" in a file of such lines (/proc/meminfo, /proc/self/status), or -1. */
long doctor_read_field(const char *path, const char *name);

#endif
