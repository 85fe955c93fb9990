/* SPDX-License-Identifier: BSD-2-Clause */
/* A ladder as a picture: one SVG file that needs nothing else. */
#ifndef STORY_LADDER_SVG_H
#define STORY_LADDER_SVG_H

#include "ladder.h"

#include <stdio.h>

void ladder_print_svg(FILE *out, const struct ladder *l);

#endif
