/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of captured: the commands of uhcactl that start captures and tell what is in
 * them, and the search for the rules that a failure needs. main.c calls them. Begin at
 * capture_cmd.c, and at model_source.h for who reads a capture,
 * watch.h for who follows a device.
 */
#ifndef CTL_CAPTURED_H
#define CTL_CAPTURED_H

#include "model_source.h"
#include "watch.h"

struct ctl_options;

/*
 * Each gets the options, with its own name in word[0], and returns the exit status, what went
 * wrong having been printed.
 */
int ctl_capture(const struct ctl_options *o);
int ctl_ladder(const struct ctl_options *o);
int ctl_explain(const struct ctl_options *o);
int ctl_report(const struct ctl_options *o);
int ctl_minimise(const struct ctl_options *o);

#endif
