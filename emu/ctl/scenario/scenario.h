/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scenario file: what is run, what is done to it and when, and what must be seen. One statement
 * per line, carried out from top to bottom; uhca-scenario(5) tells the language. Here it is text
 * made into steps, with each mistake named by line and column; nothing is run.
 */
#ifndef CTL_SCENARIO_H
#define CTL_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCENARIO_STEPS_MAX  256
#define SCENARIO_DAEMON_MAX 32
#define SCENARIO_NAME_MAX   32
#define SCENARIO_OF_COMMAND "command" /* the name of the run of uhca-run's own line */

enum scenario_verb {
	SCENARIO_FAULT,   /* text: the rule */
	SCENARIO_REMOVE,  /* name: of the rule */
	SCENARIO_RUN,     /* name, text: command line for the shell */
	SCENARIO_UHCACTL, /* text: words for uhcactl */
	SCENARIO_KILL,    /* name, number: signal */
	SCENARIO_WAIT,    /* what: for something to be so; not judged but for its time limit */
	SCENARIO_EXPECT,  /* what: judged */
	SCENARIO_COMMAND, /* "command": here the command of uhca-run's line is started */
};

enum scenario_what {
	SCENARIO_NOTHING,
	SCENARIO_TIME,      /* number: ns that pass */
	SCENARIO_LISTEN,    /* number: somebody listens on this TCP port; 0: on $UHCA_PORT */
	SCENARIO_CM_LISTEN, /* the same of an rdma_cm port */
	SCENARIO_RULE,      /* name, relation, number: hits */
	SCENARIO_EXIT,      /* name, relation, number: exit status of a run */
	SCENARIO_OUTPUT,    /* name, text: extended regular expression a line of output matches */
	SCENARIO_RECORD,    /* name: completion, event, state ...; text: words; relation, number */
	SCENARIO_COUNTER,   /* name, relation, number */
	SCENARIO_NO_LEAK,
};

enum scenario_relation {
	SCENARIO_EQUAL,
	SCENARIO_UNEQUAL,
	SCENARIO_LESS,
	SCENARIO_AT_MOST,
	SCENARIO_MORE,
	SCENARIO_AT_LEAST,
};

struct scenario_step {
	unsigned line;
	unsigned column; /* of the name, the words or the rule; 0: it has none */
	enum scenario_verb verb;
	enum scenario_what what;
	enum scenario_relation relation;
	uint64_t number;
	uint64_t within; /* ns; 0: none was given */
	bool no;         /* "expect no ...": it must not be so at the end */
	bool optional;   /* a rule that need not fire */
	bool peer;       /* on the second daemon, where there are two */
	char name[SCENARIO_NAME_MAX];
	const char *text;   /* into struct scenario */
	const char *source; /* the line as written, without what "after" put in front of it */
};

struct scenario {
	char *memory;   /* the text, cut up */
	char *original; /* the same, cut into lines only */
	const char *title;
	const char *capture; /* file for a capture of everything; NULL: none */
	uint64_t limit;      /* ns, of the whole; 0: the default */
	unsigned n_daemon;
	const char *daemon[SCENARIO_DAEMON_MAX]; /* words for uhcad */
	unsigned daemon_line;                    /* where the first of them stands */
	unsigned n_steps;
	struct scenario_step step[SCENARIO_STEPS_MAX];
	bool has_command;   /* there is a SCENARIO_COMMAND step */
	bool wants_command; /* a condition or "kill" is about it */
	bool has_peer;      /* there is a "peer run" */
};

struct scenario_error {
	unsigned line, column; /* from 1 */
	char text[512];
};

/* Cuts the text up, which is copied. 0; -EINVAL with *error, -ENOMEM. */
int scenario_parse(const char *text, struct scenario *out, struct scenario_error *error);

/* Reads a file. As scenario_parse; else -errno of open and read, with error->line 0. */
int scenario_load(const char *file, struct scenario *out, struct scenario_error *error);

void scenario_free(struct scenario *s);

bool scenario_holds(uint64_t value, enum scenario_relation relation, uint64_t number);

/* "5ms" to nanoseconds; false when it is no time. */
bool scenario_time(const char *text, uint64_t *out);

#endif
