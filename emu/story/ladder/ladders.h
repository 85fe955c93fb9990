/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door of ladder: a story as a sequence diagram, drawn as text or picture, and explained.
 * report and uhcactl call; it calls tale. Begin at ladder.h.
 */
#ifndef STORY_LADDER_DOOR_H
#define STORY_LADDER_DOOR_H

#include "explain.h"
#include "ladder.h"
#include "ladder_label.h"
#include "ladder_svg.h"
#include "ladder_text.h"
#include "markup.h"

#endif
