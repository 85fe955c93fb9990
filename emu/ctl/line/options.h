/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of uhcactl: options may stand anywhere, what is left are the words of a
 * command.
 */
#ifndef CTL_OPTIONS_H
#define CTL_OPTIONS_H

#include "emu/ctl/lib/lib.h"
#include "emu/help/options.h"
#include "emu/words/words.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#define CTL_WORDS_MAX 16

struct ctl_options {
	char dir[PATH_MAX]; /* of the instance */
	bool json;
	struct options_about about;
	const char *device; /* NULL: not given, as those that follow */
	const char *snap;
	const char *offset; /* NULL: not given */
	const char *svg;    /* file; NULL: not given */
	char *const *rest;  /* what stands behind --, ends with NULL; NULL: no such thing */
	/* Of ladder, explain and top; NULL: not given. */
	const char *qp;
	const char *wr;
	const char *width;
	const char *title;
	const char *names;
	const char *from;
	const char *to;
	const char *interval;
	const char *output; /* of page; NULL: not given */
	/* Of serve; NULL: not given. */
	const char *port;
	const char *socket;
	const char *listen;
	bool read_only;
	/* Of minimise; NULL: not given. */
	const char *devices;
	const char *fault_seed;
	const char *times;
	bool wire;
	bool stable; /* of fault trace */
	bool once;
	bool fabric; /* of top */
	bool all;
	bool no_setup;
	int n_words;
	const char *word[CTL_WORDS_MAX + 1]; /* ends with NULL */
};

/* 0, or -EINVAL with the reason printed to standard error. */
int ctl_options_parse(struct ctl_options *o, int argc, char *const *argv);

/* "uhcactl: ...; try uhcactl --help": what a command says to words it does not understand. */
int ctl_usage_error(const char *what);

/* The same of words that have not the command's form. */
int ctl_expected(const char *form);

/* The same of a word that is no WHAT, with the nearest and all that there are (words_refuse). */
int ctl_no_such(const char *what, const char *word, words_names names, const void *table);

/*
 * The daemon opens files itself: a name as it was typed, made absolute. 0, or an exit status with
 * the reason printed.
 */
int ctl_absolute_path(const char *file, char out[2 * PATH_MAX]);

/* The commands and options, with their texts. */
extern const struct options_page ctl_page;

#endif
