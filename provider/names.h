/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By which names libibverbs recognises our devices: those that begin with "uhca", and those of a
 * described machine, which have the names of adapters.
 */
#ifndef UHCAV_NAMES_H
#define UHCAV_NAMES_H

#include "provider/base/base.h"

/*
 * The table for registration, made of what the instance directory (UHCA_DIR) lists now. To be
 * called once; it stays.
 */
const struct uhcav_match *uhcav_names_table(void);

#endif
