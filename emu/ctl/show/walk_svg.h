/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk from a key to memory (emu/abi/ctl.h, "walk") as a picture: key, region, page array and
 * pages from left to right, the way of one offset drawn through them.
 */
#ifndef CTL_WALK_SVG_H
#define CTL_WALK_SVG_H

#include <jansson.h>
#include <stdio.h>

void walk_print_svg(FILE *out, const json_t *walk);

#endif
