/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl: a table from the first word to the command.
 */
#include "emu/ctl/captured/captured.h"
#include "emu/ctl/doctor/doctor.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/live/live.h"
#include "emu/ctl/run/run_env.h"
#include "emu/ctl/show/show.h"

#include <stdio.h>
#include <string.h>

/* As uhca-run doctor. */
static int ctl_doctor(const struct ctl_options *o)
{
	if (o->n_words != 1)
		return ctl_usage_error("doctor takes no arguments");
	if (ctl_look_beside() < 0) {
		fprintf(stderr, "uhcactl: cannot find its own path in /proc\n");
		return CTL_EXIT_FAILED;
	}
	return doctor_run(&(struct doctor_places){run_env_daemon(), run_env_preload()});
}

static const struct command {
	const char *name;
	int (*run)(const struct ctl_options *o);
} commands[] = {
	{"show", ctl_show},     {"counters", ctl_counters}, {"capture", ctl_capture},
	{"port", ctl_port},     {"device", ctl_device},     {"limit", ctl_limit},
	{"event", ctl_event},   {"ladder", ctl_ladder},     {"explain", ctl_explain},
	{"top", ctl_top},       {"fault", ctl_fault},       {"replay", ctl_replay},
	{"step", ctl_step},     {"minimise", ctl_minimise}, {"report", ctl_report},
	{"page", ctl_report},   {"serve", ctl_serve},       {"cdi", ctl_cdi},
	{"doctor", ctl_doctor}, {"fabric", ctl_fabric},
};

static int run(const struct ctl_options *o)
{
	const struct command *c = words_row(WORDS_ROWS(commands), o->n_words ? o->word[0] : NULL);

	if (o->n_words == 0)
		return ctl_usage_error("no command");
	return c ? c->run(o)
		 : ctl_no_such("command", o->word[0], words_row_at, WORDS_ROWS(commands));
}

int main(int argc, char **argv)
{
	static struct ctl_options o;
	int status = 0;

	if (ctl_options_parse(&o, argc, argv) < 0)
		return CTL_EXIT_USAGE;
	if (!options_answer(&ctl_page, &o.about))
		status = run(&o);
	if (fflush(stdout) != 0 && status == 0) {
		perror("uhcactl");
		status = CTL_EXIT_FAILED;
	}
	return status;
}
