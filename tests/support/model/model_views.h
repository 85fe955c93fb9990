/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds the views of one capture against each other: what explain, report and ladder say of a
 * completion or a packet is the same, and nothing is said that the capture does not have.
 */
#ifndef TESTS_SUPPORT_MODEL_VIEWS_H
#define TESTS_SUPPORT_MODEL_VIEWS_H

#include "emu/model/capture/capture_model.h"

#include <stdio.h>

/* Says each contradiction in a line of its own; returns how many there are, or -errno. */
int model_views_check(const struct model *s, const char *name, FILE *complaints);

#endif
