/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See conf.h. Options are long ones only, "--name value" or "--name=value"; there are no other
 * arguments.
 */
#include "conf.h"

#include "emu/help/page.h"
#include "emu/io/device/devices.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void conf_default(struct conf *c)
{
	*c = (struct conf){
		.io = {.devices = 0,
		       .ready_fd = -1,
		       .gso = true,
		       .icrc = IO_ICRC_LENIENT,
		       .adopt = UHCA_ABI_ADOPT_SAFE},
		.log_level = IO_LOG_INFO,
		.log_target = IO_LOG_FILE,
	};
}

static const struct conf_option *find(const char *name, size_t len)
{
	for (size_t i = 0; i < conf_schema_count; i++)
		if (strlen(conf_schema[i].name) == len &&
		    memcmp(conf_schema[i].name, name, len) == 0)
			return &conf_schema[i];
	return NULL;
}

static void store(struct conf *c, const struct conf_option *o, long value)
{
	char *field = (char *)c + o->offset;
	bool flag = value != 0;
	int number = (int)value;

	if (o->size == sizeof(bool))
		memcpy(field, &flag, sizeof(flag));
	else
		memcpy(field, &number, sizeof(number));
}

static int store_number(struct conf *c, const struct conf_option *o, const char *arg, char *error,
			size_t cap)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(arg, &end, 10);
	if (end == arg || *end || errno || v < o->min || v > o->max) {
		snprintf(error, cap, "'%s' is not a number from %ld to %ld", arg, o->min, o->max);
		return -EINVAL;
	}
	store(c, o, v);
	return 0;
}

static int store_choice(struct conf *c, const struct conf_option *o, const char *arg, char *error,
			size_t cap)
{
	size_t n;

	for (long i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], arg) == 0) {
			store(c, o, i);
			return 0;
		}
	}
	n = (size_t)snprintf(error, cap, "'%s' is not one of", arg);
	for (long i = 0; o->choices[i] && n < cap; i++)
		n += (size_t)snprintf(error + n, cap - n, "%s %s", i ? "," : "", o->choices[i]);
	return -EINVAL;
}

static int store_text(struct conf *c, const struct conf_option *o, const char *arg, char *error,
		      size_t cap)
{
	if (!*arg || strlen(arg) > (size_t)o->max) {
		snprintf(error, cap, "must have 1 to %ld characters", o->max);
		return -EINVAL;
	}
	memcpy((char *)c + o->offset, arg, strlen(arg) + 1);
	return 0;
}

static int apply(struct conf *c, const struct conf_option *o, const char *arg, char *error,
		 size_t cap)
{
	switch (o->kind) {
	case CONF_FLAG:
		store(c, o, o->min);
		return 0;
	case CONF_NUMBER:
		return store_number(c, o, arg, error, cap);
	case CONF_TEXT:
		return store_text(c, o, arg, error, cap);
	case CONF_CHOICE:
		return store_choice(c, o, arg, error, cap);
	case CONF_SET:
		return o->set(c, arg, error, cap);
	}
	__builtin_unreachable();
}

/* One option, which may take the next argument too. Returns the arguments used, or -EINVAL. */
static int parse_one(struct conf *c, char *const *argv, char *error, size_t cap)
{
	const char *equals = strchr(argv[0], '=');
	const char *arg = equals ? equals + 1 : NULL;
	const struct conf_option *o;
	char why[256];
	int used = 1;

	if (strncmp(argv[0], "--", 2) != 0) {
		snprintf(error, cap, "'%s' is not an option", argv[0]);
		return -EINVAL;
	}
	o = find(argv[0] + 2, (equals ? (size_t)(equals - argv[0]) : strlen(argv[0])) - 2);
	if (!o) {
		snprintf(error, cap, "there is no option %.*s",
			 (int)(equals ? equals - argv[0] : (long)strlen(argv[0])), argv[0]);
		return -EINVAL;
	}
	if (o->argument && !arg && !o->optional) {
		arg = argv[1];
		used = 2;
	}
	if (!o->argument && arg)
		snprintf(error, cap, "--%s takes no argument", o->name);
	else if (o->argument && !arg && !o->optional)
		snprintf(error, cap, "--%s needs an argument (%s)", o->name, o->argument);
	else if (apply(c, o, arg, why, sizeof(why)) < 0)
		snprintf(error, cap, "--%s: %s", o->name, why);
	else
		return used;
	return -EINVAL;
}

int conf_set(struct conf *c, const char *option, char *error, size_t cap)
{
	char *const argv[] = {(char *)(uintptr_t)option, NULL};
	int used = parse_one(c, argv, error, cap);

	return used < 0 ? used : 0;
}

static int check_limits(const struct conf *c, char *error, size_t cap)
{
	struct core_config cfg;

	if (io_settings_config(&c->io, &cfg) == 0)
		return 0;
	core_config_default(&cfg);
	core_profile_apply(&cfg, c->io.profile);
	for (unsigned i = 0; i < c->io.n_limits; i++) {
		unsigned limit = c->io.limits[i].limit;

		if (core_limit_set(&cfg, limit, c->io.limits[i].value) == 0)
			continue;
		snprintf(error, cap, "--limit: %s cannot be %llu", core_limit_name(limit),
			 (unsigned long long)c->io.limits[i].value);
		break;
	}
	return -EINVAL;
}

/* What only the whole of the options can tell. */
static int complete(struct conf *c, char *error, size_t cap)
{
	if (c->io.devices == 0)
		c->io.devices = c->next_device ? c->next_device : 1;
	if (c->next_device > c->io.devices) {
		snprintf(error, cap, "--addr is given %u times for %u devices", c->next_device,
			 c->io.devices);
		return -EINVAL;
	}
	if (!c->io.dir[0] && io_instance_path("default", c->io.dir, sizeof(c->io.dir)) < 0) {
		snprintf(error, cap, "the default directory's name is too long; use --dir");
		return -EINVAL;
	}
	return check_limits(c, error, cap);
}

int conf_parse(struct conf *c, int argc, char *const *argv, char *error, size_t cap)
{
	conf_default(c);
	for (int i = 1; i < argc;) {
		int used = parse_one(c, argv + i, error, cap);

		if (used < 0)
			return used;
		i += used;
	}
	return complete(c, error, cap);
}

/* ---- texts ---- */

static void option_text(const struct conf_option *o, char *out, size_t cap)
{
	if (!o->argument)
		snprintf(out, cap, "--%s", o->name);
	else if (o->optional)
		snprintf(out, cap, "--%s[=%s]", o->name, o->argument);
	else
		snprintf(out, cap, "--%s %s", o->name, o->argument);
}

void conf_print_help(FILE *out)
{
	fputs("Usage: uhcad [OPTION]...\n"
	      "Runs emulated RDMA devices for the programs of this user.\n\n",
	      out);
	for (size_t i = 0; i < conf_schema_count; i++) {
		char option[64];

		option_text(&conf_schema[i], option, sizeof(option));
		help_page_row(out, option, conf_schema[i].help);
	}
}

void conf_print_man(FILE *out)
{
	for (size_t i = 0; i < conf_schema_count; i++) {
		char option[64];

		option_text(&conf_schema[i], option, sizeof(option));
		help_page_man_row(out, option, conf_schema[i].help);
	}
}
