/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of show: the commands of uhcactl that print what the daemon has at this moment,
 * as tables, as a picture, or again and again. main.c calls them; grid.h, which prints tables, is
 * for the other modules, too. Begin at show.c.
 */
#ifndef CTL_SHOW_H
#define CTL_SHOW_H

#include "grid.h"

struct ctl_options;

/*
 * Each gets the options, with its own name in word[0], and returns the exit status, what went
 * wrong having been printed.
 */
int ctl_show(const struct ctl_options *o);
int ctl_top(const struct ctl_options *o);
int ctl_cdi(const struct ctl_options *o);

/* show mr KEY. */
int ctl_walk(const struct ctl_options *o);

#endif
