/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the model that a command tells comes from: a file, or the daemon's flight recorder. */
#ifndef CTL_MODEL_SOURCE_H
#define CTL_MODEL_SOURCE_H

#include "emu/ctl/line/line.h"
#include "emu/model/capture/capture_model.h"

/* The word that stands for the running daemon. */
#define CTL_MODEL_LIVE "live"

/*
 * Reads the capture o->word[1], or what the daemon remembers. 0, and what may be wrong at the end
 * of the file is in s->error; else an exit status, the reason printed. model_free in each case.
 */
int ctl_model_open(const struct ctl_options *o, struct model *s);

/* Is there such a QP in it? 0, or an exit status, with those that there are printed. */
int ctl_model_has_qp(const struct ctl_options *o, const struct model *s, uint32_t number);

/* A QP or request number of the command line; false: it is none. */
bool ctl_model_number(const char *text, uint64_t max, uint64_t *out);

/* "5us", "1.5ms", "2s", or milliseconds alone, as nanoseconds. */
bool ctl_model_time(const char *text, uint64_t *ns);

#endif
