/* SPDX-License-Identifier: BSD-2-Clause */
/* One description of the walk (emu/abi/ctl.h, "steps") as a column of the picture. */
#ifndef CTL_WALK_SVG_STEP_H
#define CTL_WALK_SVG_STEP_H

#include <jansson.h>
#include <stdio.h>

#define WALK_TOP        70 /* where columns begin, below their titles */
#define WALK_STEP_WIDTH 340

/* Draws column "number" at x, and the way from it to the column that begins at x + the width. */
void walk_draw_step(FILE *out, const json_t *step, int number, int x);

/* Where the column ends. */
int walk_step_bottom(const json_t *step);

#endif
