/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of ladder: a model as a sequence diagram, drawn as text or picture, and
 * explained. report and uhcactl call; it calls capture. Begin at ladder.h.
 */
#ifndef MODEL_LADDER_MODULE_H
#define MODEL_LADDER_MODULE_H

#include "explain.h"
#include "ladder.h"
#include "ladder_label.h"
#include "ladder_svg.h"
#include "ladder_text.h"
#include "markup.h"

#endif
