/* SPDX-License-Identifier: BSD-2-Clause */
/* The setter of --cc, for the table of options. */
#ifndef CONF_CC_H
#define CONF_CC_H

#include "conf.h"

/* "off", or a control with its parameters and those of the device: see uhcad(8). */
int conf_set_cc(void *into, const struct option_row *row, const char *argument, char *error,
		size_t cap);

#endif
