/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of show: the commands of uhcactl that print what the daemon has at this moment,
 * as tables, as a picture, or again and again. main.c calls them; grid.h, which prints tables, is
 * for the other modules, too. Begin at show.c.
 */
#ifndef CTL_SHOW_H
#define CTL_SHOW_H

#include "grid.h"

#include <jansson.h>

struct ctl_options;

/*
 * Each gets the options, with its own name in word[0], and returns the exit status, what went
 * wrong having been printed.
 */
int ctl_show(const struct ctl_options *o);
int ctl_top(const struct ctl_options *o);
int ctl_cdi(const struct ctl_options *o);

/* show fabric, and show fabric QP. */
int ctl_show_fabric(const struct ctl_options *o);
int ctl_show_path(const struct ctl_options *o);
/* The network's state with its ports, the caller's also after an error (NULL: none). */
int ctl_fabric_state(const struct ctl_options *o, json_t **state);

/* show mr KEY. */
int ctl_walk(const struct ctl_options *o);

#endif
