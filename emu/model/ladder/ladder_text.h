/* SPDX-License-Identifier: BSD-2-Clause */
/* A ladder in letters, for a terminal. */
#ifndef MODEL_LADDER_TEXT_H
#define MODEL_LADDER_TEXT_H

#include "ladder.h"

#include <stdio.h>

#define LADDER_WIDTH_MIN 60
#define LADDER_WIDTH_MAX 400

struct ladder_style {
	unsigned width; /* columns, within the limits above */
	bool utf8;      /* else ASCII alone */
	bool colours;
};

/* So many lanes fit into this width. */
unsigned ladder_lanes_for(unsigned width);

/* The names of the lanes, with the time at which the model begins. */
void ladder_print_head(FILE *out, const struct ladder *l, const struct ladder_style *style);

/* The rows from first on, up to before end. */
void ladder_print_rows(FILE *out, const struct ladder *l, const struct ladder_style *style,
		       uint32_t first, uint32_t end);

/* What could not be shown, if there is such. */
void ladder_print_foot(FILE *out, const struct ladder *l);

#endif
