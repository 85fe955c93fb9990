/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run of a sweep came to, and how it is written down: a line of JSON for each. */
#ifndef SWEEP_RESULT_H
#define SWEEP_RESULT_H

#include "sweep_item.h"

#include <jansson.h>

enum sweep_fault_of_test {
	SWEEP_CRASH,
	SWEEP_HANG,
	SWEEP_LEAK,
	SWEEP_MISUSE, /* another finding of the sanitizer, which the good run has not */
	SWEEP_PASSED, /* ended with 0 although something failed that mattered */
	SWEEP_FAILED, /* failed although the device recovers by itself */
	SWEEP_DIAGNOSTICS
};

const char *sweep_diagnostic_name(enum sweep_fault_of_test of);

struct sweep_diagnostic {
	enum sweep_fault_of_test of;
	char *what;  /* one line */
	char *stack; /* lines with their ends; "": none. With the name it is what findings share */
};

#define SWEEP_RESULT_DIAGNOSTICS 8

struct sweep_result {
	struct sweep_item item;
	int status; /* exit status of the run */
	double seconds;
	bool fired; /* the fault came */
	bool again; /* the program did the same again, and so got what had failed */
	char *said; /* lines that the good run does not have, in the order of the alphabet */
	struct sweep_diagnostic diagnostic[SWEEP_RESULT_DIAGNOSTICS];
	unsigned n;
};

/* Takes copies; what is too much is left out. */
void sweep_result_add(struct sweep_result *r, enum sweep_fault_of_test of, const char *what,
		      const char *stack);
void sweep_result_free(struct sweep_result *r);

/* NULL: no memory. */
json_t *sweep_result_pack(const struct sweep_result *r);

/* 0, or -EINVAL: it is no such line. */
int sweep_result_unpack(const json_t *line, struct sweep_result *out);

#endif
