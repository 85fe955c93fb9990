/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of page: a model as the page in a browser. Either as one HTML file that needs
 * nothing else, or in pieces that a server hands out as the page asks for them (page_data.h,
 * page_columns.h); the script is the same. Calls ladder and capture. Without JavaScript the file
 * has the explanation and a drawn ladder.
 */
#ifndef MODEL_PAGE_H
#define MODEL_PAGE_H

#include "emu/model/capture/capture_model.h"
#include "page_bundle.h"
#include "page_columns.h"
#include "page_data.h"

#include <stdio.h>

#define MODEL_PAGE_MAX 100000u /* packets, and records, that a file holds */

/*
 * Writes the file; name is what the capture is called in it. 0 or -ENOMEM; whether all could be
 * written, ferror(out) tells.
 */
int model_page(FILE *out, const struct model *s, const char *name);

/* The data of the file alone: all of it, as one JSON object. 0. */
int model_page_json(FILE *out, const struct model *s);

#endif
