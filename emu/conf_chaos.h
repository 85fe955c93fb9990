/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONF_CHAOS_H
#define CONF_CHAOS_H

#include "conf.h"

/*
 * Takes the liberties that the argument of --chaos names (chaos_parse; NULL is ""), under a seed by
 * chance where it has none. 0, or -EINVAL with what is wrong in error.
 */
int conf_set_chaos(struct conf *c, const char *argument, char *error, size_t cap);

#endif
