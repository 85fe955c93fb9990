/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door of tale: a capture as one story, and the names of what happens in it. ladder, report and
 * uhcactl call; it calls read. Begin at story.h.
 */
#ifndef STORY_TALE_DOOR_H
#define STORY_TALE_DOOR_H

#include "cm_reasons.h"
#include "statuses.h"
#include "story.h"
#include "vocabulary.h"

#endif
