/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of uhcad: conf_schema.c has the table of its options (see emu/help/options.h).
 */
#ifndef CONF_H
#define CONF_H

#include "emu/fault/chaos/chaos.h"
#include "emu/help/options.h"
#include "emu/io/device/devices.h"

#include <stdbool.h>
#include <stddef.h>

struct conf {
	struct io_settings io;
	enum io_log_level log_level;
	enum io_log_target log_target;
	char log_file[PATH_MAX]; /* "": "log" in the instance directory */
	bool has_profile;        /* --profile was given: that of a machine does not count */
	unsigned next_device;    /* whose addresses the next --addr gives */
	/* --chaos: SEED,NAME,... as it was taken, "" for nothing; and its rules, for io.faults */
	char chaos[1024];
	char chaos_rules[RELAXATIONS_MAX][FAULT_TEXT_MAX];
	struct options_about about;
};

/* Every option, with its text. */
extern const struct options_page conf_page;

/*
 * Reads the arguments (argv[0] is skipped) over the defaults. 0, or -EINVAL with one line in
 * error that says which argument is wrong, and why.
 */
int conf_parse(struct conf *c, int argc, char *const *argv, char *error, size_t cap);

/* The same of one option, "--name" or "--name=argument", over what is there. */
int conf_set(struct conf *c, const char *option, char *error, size_t cap);

#endif
