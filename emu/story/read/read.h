/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door of read: capture files and the words in them. tale and the scenarios of uhcactl call; it
 * calls none. Begin at pcapng.h.
 */
#ifndef STORY_READ_DOOR_H
#define STORY_READ_DOOR_H

#include "arena.h"
#include "pcapng.h"
#include "words.h"

#endif
