/* SPDX-License-Identifier: BSD-2-Clause */
/* A ladder as a picture: one SVG file that needs nothing else. */
#ifndef MODEL_LADDER_SVG_H
#define MODEL_LADDER_SVG_H

#include "ladder.h"

#include <stdio.h>

/* title: NULL for the ordinary one. */
void ladder_print_svg(FILE *out, const struct ladder *l, const char *title);

#endif
