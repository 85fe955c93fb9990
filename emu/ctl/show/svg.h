/* SPDX-License-Identifier: BSD-2-Clause */
/* Boxes, words and arrows of a picture in SVG; sizes in pixels, from the upper left corner. */
#ifndef CTL_SVG_H
#define CTL_SVG_H

#include <stdio.h>

/*
 * What goes before and behind all else. Classes of words: title, note, number; of boxes: part, hit
 * (used by the way that is drawn), byte, gap.
 */
void svg_begin(FILE *out, int width, int height);
void svg_end(FILE *out);

/* The words must be XML already: "&gt;&gt;" for a shift. */
__attribute__((format(printf, 5, 6))) void svg_text(FILE *out, int x, int y, const char *class,
						    const char *format, ...);

/* Text that may be anything, behind words of ours. */
void svg_foreign(FILE *out, int x, int y, const char *class, const char *before, const char *text);

/* A list with commas on lines of at most "columns" letters, 16 pixels apart. */
void svg_list(FILE *out, int x, int y, const char *list, int columns);

void svg_box(FILE *out, int x, int y, int w, int h, const char *class);
void svg_arrow(FILE *out, int x1, int y1, int x2, int y2);

#endif
