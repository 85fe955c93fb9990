/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of uhcad. One table (conf_schema.c) holds every option with its argument, its
 * limits and its text; the parser, --help and the OPTIONS section of the man page all come from
 * it.
 */
#ifndef CONF_H
#define CONF_H

#include "emu/fault/chaos/chaos.h"
#include "emu/io/device/devices.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct conf {
	struct io_settings io;
	enum io_log_level log_level;
	enum io_log_target log_target;
	char log_file[PATH_MAX]; /* "": "log" in the instance directory */
	unsigned next_device;    /* whose addresses the next --addr gives */
	/* --chaos: SEED,NAME,... of what is taken, "" for nothing; its rules, which io.faults names
	 */
	char chaos[1024];
	char chaos_rules[LIBERTIES_MAX][FAULT_TEXT_MAX];
	bool help;     /* --help: print and leave */
	bool help_man; /* --help=man: the text in the form of the man page */
	bool version;
};

enum conf_kind {
	CONF_FLAG,   /* no argument: stores "value" */
	CONF_NUMBER, /* min..max */
	CONF_TEXT,   /* a string of up to max bytes */
	CONF_CHOICE, /* one of the names in "choices", stored as its position */
	CONF_SET,    /* "set" looks at the argument */
};

/* One option. Flags, choices and numbers are stored in a 4-byte field, bools in theirs. */
struct conf_option {
	const char *name;
	const char *argument; /* as --help shows it; NULL: takes none */
	enum conf_kind kind;
	bool optional; /* the argument may be left out ("--help") */
	size_t offset; /* of the field in struct conf */
	size_t size;   /* of the field */
	long min;      /* CONF_NUMBER; CONF_FLAG: what is stored */
	long max;
	const char *const *choices; /* ends with NULL */
	/* Stores the argument; says what is wrong with it in "error". 0 or -EINVAL. */
	int (*set)(struct conf *c, const char *argument, char *error, size_t cap);
	const char *help; /* sentences; the line breaks are made when it is printed */
};

extern const struct conf_option conf_schema[];
extern const size_t conf_schema_count;

/* Everything as it is without options. */
void conf_default(struct conf *c);

/*
 * Reads the arguments (argv[0] is skipped) over the defaults. 0, or -EINVAL with one line in
 * error that says which argument is wrong, and why.
 */
int conf_parse(struct conf *c, int argc, char *const *argv, char *error, size_t cap);

/* The same of one option, "--name" or "--name=argument", over what is there. */
int conf_set(struct conf *c, const char *option, char *error, size_t cap);

/* What --help prints. */
void conf_print_help(FILE *out);

/* The OPTIONS of uhcad(8), in man(7). */
void conf_print_man(FILE *out);

#endif
