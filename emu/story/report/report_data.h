/* SPDX-License-Identifier: BSD-2-Clause */
/* A story as the JSON that the page of a report draws from. Part of report.h. */
#ifndef STORY_REPORT_DATA_H
#define STORY_REPORT_DATA_H

#include "emu/story/tale/tale.h"

#include <stdio.h>

/*
 * One object. Its lists refer to each other by index, null stands for nothing; times are
 * nanoseconds since the story began. Arrows and records after the first "most" of each are left
 * out, and the object says how many there are.
 */
void report_data(FILE *out, const struct story *s, uint32_t most);

#endif
