/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door of line: a command line of uhcactl, and the programs that lie beside ours. All wings but
 * lib call; it calls lib. Begin at options.h.
 */
#ifndef CTL_LINE_DOOR_H
#define CTL_LINE_DOOR_H

#include "beside.h"
#include "options.h"

#endif
