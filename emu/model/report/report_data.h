/* SPDX-License-Identifier: BSD-2-Clause */
/* A model as the JSON that the page of a report draws from. Part of report.h. */
#ifndef MODEL_REPORT_DATA_H
#define MODEL_REPORT_DATA_H

#include "emu/model/capture/capture_model.h"

#include <stdio.h>

/*
 * One object. Its lists refer to each other by index, null stands for nothing; times are
 * nanoseconds since the model began. Arrows and records after the first "most" of each are left
 * out, and the object says how many there are.
 */
void report_data(FILE *out, const struct model *s, uint32_t most);

#endif
