/* SPDX-License-Identifier: BSD-2-Clause */
/* The setter of --cc, for the table of options. */
#ifndef CONF_CC_H
#define CONF_CC_H

#include "conf.h"

/* "off", or a control with its parameters and those of the device: see uhcad(8). */
OPTION_SETTER(conf_set_cc);

#endif
