/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONF_CHAOS_H
#define CONF_CHAOS_H

#include "conf.h"

/*
 * Takes the relaxations that the argument of --chaos names (chaos_parse; NULL is ""), under a seed
 * by chance where it has none. 0, or -EINVAL with what is wrong in error.
 */
int conf_set_chaos(void *conf, const struct option_row *row, const char *argument, char *error,
		   size_t cap);

#endif
