/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of live: the commands of uhcactl that change something in a daemon, or read its
 * numbers: ports, limits, events, fault rules, step mode. main.c calls them. Begin at port_cmd.c.
 */
#ifndef CTL_LIVE_H
#define CTL_LIVE_H

#include <jansson.h>

struct ctl_options;

/*
 * Each gets the options, with its own name in word[0], and returns the exit status, what went
 * wrong having been printed.
 */
int ctl_counters(const struct ctl_options *o);
int ctl_fabric(const struct ctl_options *o);
int ctl_port(const struct ctl_options *o);
int ctl_device(const struct ctl_options *o);
int ctl_limit(const struct ctl_options *o);
int ctl_event(const struct ctl_options *o);
int ctl_fault(const struct ctl_options *o);
int ctl_replay(const struct ctl_options *o);
int ctl_serve(const struct ctl_options *o);
int ctl_step(const struct ctl_options *o);

/*
 * For them: sends the request, and prints the answer as JSON or as "say" does. text: of the rule in
 * the request, in which a mistake is shown; NULL: it has none. The exit status.
 */
int ctl_order(const struct ctl_options *o, json_t *request, const char *text,
	      void (*say)(const json_t *result));

#endif
