/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wait of each thread of the process, left with the collector while none of them goes on. The
 * collector shows it when the command is interrupted, and to those whose peer this process is.
 */
#ifndef UHCAV_HANG_PICTURE_H
#define UHCAV_HANG_PICTURE_H

#include "thread.h"

/* Once a tick. */
void uhcav_hang_picture(const struct uhcav_hang_threads *all, uint64_t now, uint64_t after);

#endif
