/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of uhcad, uhcactl and uhca-run: one table of rows is the parser, --help and the
 * skeleton of the man page's sections. A table of our own beside getopt_long(3), argp and popt:
 * they know no man page, no limits of a number, and no nearest word for one that is misspelt.
 */
#ifndef HELP_OPTIONS_H
#define HELP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum option_kind {
	OPTION_SET,    /* "set" looks at the argument */
	OPTION_FLAG,   /* no argument: stores "min" */
	OPTION_NUMBER, /* decimal, min to max */
	OPTION_TEXT,   /* a copy of 1 to max bytes, in an array */
	OPTION_WORD,   /* the argument itself, of min bytes or more, in a pointer */
	OPTION_CHOICE, /* one of "choices", stored as its position */
};

/*
 * One option; a command, whose name has no dashes; or, without a name, the title ("help") of a
 * group of rows. A table ends with a row of zeros.
 */
struct option_row {
	const char *name;     /* "--name" */
	const char *argument; /* as --help shows it; "[=X]": it may be left out; NULL: takes none */
	const char *help;     /* one or two lines in --help; the man page may go on */
	enum option_kind kind;
	char letter;   /* "-o" as well; 0: none */
	bool tag;      /* for the program */
	bool hidden;   /* another name of an option: taken, not shown */
	size_t offset; /* of the field in what the program parses into */
	size_t size;   /* of the field: flags, choices, numbers have that of bool or int */
	long min;
	long max;
	const char *const *choices; /* ends with NULL */
	/* Stores the argument (NULL: none); says in error what is wrong with it. 0 or -EINVAL. */
	int (*set)(void *into, const struct option_row *row, const char *argument, char *error,
		   size_t cap);
};

#define OPTION_FIELD(type, field)                                                                  \
	.offset = offsetof(type, field), .size = sizeof(((type *)0)->field)

/* A function for option_row.set; what it has no need of may go unused. */
#define OPTION_SETTER(name)                                                                        \
	int name(__attribute__((unused)) void *into,                                               \
		 __attribute__((unused)) const struct option_row *row,                             \
		 __attribute__((unused)) const char *argument,                                     \
		 __attribute__((unused)) char *error, __attribute__((unused)) size_t cap)

/* What each program takes: --version and --help. */
struct options_about {
	bool version;
	bool help;
	bool man;
};
#define OPTIONS_ABOUT(type)                                                                        \
	{"--version", NULL, "Prints the version.", OPTION_FLAG, OPTION_FIELD(type, about.version), \
	 .min = 1},                                                                                \
	{                                                                                          \
		"--help", "[=man]", "Prints this text; with =man, as source of a man page.",       \
			OPTION_SET, OPTION_FIELD(type, about), .set = options_set_about            \
	}
OPTION_SETTER(options_set_about);

/* What --help prints. */
struct options_page {
	const char *program;
	const char *version;
	const char *usage;                 /* lines before the rows */
	const struct option_row *commands; /* NULL: none */
	const struct option_row *rows;
	const char *end; /* lines behind them, or "" */
};

/*
 * Takes the option at argv[0], which a prefix that no other option has may stand for, and the next
 * word where the option needs one. Returns how many words it took; 0 when argv[0] is no option ("-"
 * and "--" are none); or -EINVAL with one line in error.
 */
int options_take(const struct option_row *rows, void *into, char *const *argv, char *error,
		 size_t cap);

/* The option that the word ("--name", "--name=argument", a prefix) stands for, or NULL. */
const struct option_row *options_find(const struct option_row *rows, const char *word);

/* The rows in lines of up to 80 columns, or as sections COMMANDS and OPTIONS in man(7). */
void options_print(const struct options_page *page, bool man, FILE *out);

/* Answers --version and --help on standard output. False: neither was asked for. */
bool options_answer(const struct options_page *page, const struct options_about *about);

#endif
