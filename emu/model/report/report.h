/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A model as one HTML page that needs nothing else: no network, no other file. A browser draws
 * ladder, states, counters and tables from the data in it; without JavaScript there are the
 * explanation and a drawn ladder.
 */
#ifndef MODEL_REPORT_H
#define MODEL_REPORT_H

#include "emu/model/capture/capture_model.h"

#include <stdio.h>

#define REPORT_MAX 100000u /* packets, and records, that a page holds */

/*
 * Writes the page; name is what the capture is called in it. 0 or -ENOMEM; whether all could be
 * written, ferror(out) tells.
 */
int model_report(FILE *out, const struct model *s, const char *name);

/* The data of the page alone: all of it, as one JSON object. 0. */
int model_report_json(FILE *out, const struct model *s);

#endif
