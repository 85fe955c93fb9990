/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of line: a command line of uhcactl, and the programs that lie beside ours. All
 * modules but lib call; it calls lib. Begin at options.h.
 */
#ifndef CTL_LINE_MODULE_H
#define CTL_LINE_MODULE_H

#include "beside.h"
#include "options.h"
#include "shell_word.h"

#endif
