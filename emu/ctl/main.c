/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl: a table from the first word to the command.
 */
#include "emu/ctl/captured/captured.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/live/live.h"
#include "emu/ctl/show/show.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(const struct ctl_options *o);
} commands[] = {
	{"show", ctl_show},   {"counters", ctl_counters}, {"capture", ctl_capture},
	{"port", ctl_port},   {"device", ctl_device},     {"limit", ctl_limit},
	{"event", ctl_event}, {"ladder", ctl_ladder},     {"explain", ctl_explain},
	{"top", ctl_top},     {"fault", ctl_fault},       {"replay", ctl_replay},
	{"step", ctl_step},   {"minimise", ctl_minimise}, {"report", ctl_report},
	{"cdi", ctl_cdi},
};

static int run(const struct ctl_options *o)
{
	if (o->n_words == 0)
		return ctl_usage_error("no command");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, o->word[0]) == 0)
			return commands[i].run(o);
	return ctl_usage_error("there is no such command");
}

int main(int argc, char **argv)
{
	static struct ctl_options o;
	int status = 0;

	if (ctl_options_parse(&o, argc, argv) < 0)
		return CTL_EXIT_USAGE;
	if (o.help)
		(o.help_man ? ctl_print_man : ctl_print_help)(stdout);
	else if (o.version)
		puts("uhcactl " UHCA_VERSION);
	else
		status = run(&o);
	if (fflush(stdout) != 0 && status == 0) {
		perror("uhcactl");
		status = CTL_EXIT_FAILED;
	}
	return status;
}
