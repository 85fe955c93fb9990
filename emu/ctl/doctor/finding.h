/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a check of the doctor finds. A check measures, then judges; the judgements that have a
 * choice are functions of what was measured, so that tests can be any machine.
 */
#ifndef FINDING_H
#define FINDING_H

enum doctor_mark {
	DOCTOR_GOOD,
	DOCTOR_NOTE, /* works, but slower, or some programs notice */
	DOCTOR_BAD,  /* keeps uhca from working */
};

struct doctor_finding {
	enum doctor_mark mark;
	char text[256];
	char remedy[256]; /* empty: none, or none is needed */
};

/* Fills in a finding; remedy may be NULL. */
void finding_set(struct doctor_finding *out, enum doctor_mark mark, const char *remedy,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The number in a file such as those below /proc/sys, or -1 where there is none. */
long finding_number(const char *path);

/* The number behind "name:" in a file of such lines (/proc/meminfo, /proc/self/status), or -1. */
long finding_field(const char *path, const char *name);

#endif
