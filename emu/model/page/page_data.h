/* SPDX-License-Identifier: BSD-2-Clause */
/* A model as the JSON that the page draws from. Part of page.h. */
#ifndef MODEL_PAGE_DATA_H
#define MODEL_PAGE_DATA_H

#include "emu/model/capture/capture_model.h"

#include <stdio.h>

/*
 * One object. Its lists refer to each other by index, null stands for nothing; times are
 * nanoseconds since the model began. Arrows, messages and records after the first "most" of each
 * are left out, and the object says how many there are.
 */
void page_data(FILE *out, const struct model *s, uint32_t most);

/* The object without these lists, and without its last bracket: members may be added to it. */
void page_data_head(FILE *out, const struct model *s);

/* One of a list; index is below their number. */
void page_data_arrow(FILE *out, const struct model *s, uint32_t index);
void page_data_message(FILE *out, const struct model *s, uint32_t index);
void page_data_record(FILE *out, const struct model *s, uint32_t index);

/* The rows of page_columns.h of the first "most" arrows and records, as hexadecimal texts. */
void page_data_columns(FILE *out, const struct model *s, uint32_t most);

#endif
