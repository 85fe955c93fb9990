/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of uhcactl. Each gets the options, with its own name in word[0], and returns the
 * exit status, what went wrong having been printed.
 */
#ifndef CTL_COMMANDS_H
#define CTL_COMMANDS_H

#include "emu/ctl/line/options.h"

int ctl_show(const struct ctl_options *o);
int ctl_counters(const struct ctl_options *o);
int ctl_capture(const struct ctl_options *o);

/* show mr KEY, from walk_cmd.c. */
int ctl_walk(const struct ctl_options *o);

/* port_cmd.c */
int ctl_port(const struct ctl_options *o);
int ctl_device(const struct ctl_options *o);
int ctl_limit(const struct ctl_options *o);
int ctl_event(const struct ctl_options *o);

/* minimise_cmd.c */
int ctl_minimise(const struct ctl_options *o);
int ctl_ladder(const struct ctl_options *o);
int ctl_explain(const struct ctl_options *o);
int ctl_report(const struct ctl_options *o);
int ctl_top(const struct ctl_options *o);

/* fault_cmd.c */
int ctl_fault(const struct ctl_options *o);
int ctl_replay(const struct ctl_options *o);

/* step_cmd.c */
int ctl_step(const struct ctl_options *o);

/*
 * The daemon opens files itself: a name as it was typed, made absolute. 0, or an exit status with
 * the reason printed.
 */
int ctl_absolute_path(const char *file, char out[2 * PATH_MAX]);

/* "uhcactl: ...; try uhcactl --help": what a command says to words it does not understand. */
int ctl_usage_error(const char *what);

#endif
