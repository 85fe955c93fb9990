/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the story that a command tells comes from: a file, or the daemon's flight recorder. */
#ifndef CTL_STORY_SOURCE_H
#define CTL_STORY_SOURCE_H

#include "emu/ctl/line/line.h"
#include "emu/story/tale/tale.h"

/* The word that stands for the running daemon. */
#define CTL_STORY_LIVE "live"

/*
 * Reads the capture o->word[1], or what the daemon remembers. 0, and what may be wrong at the end
 * of the file is in s->error; else an exit status, the reason printed. story_free in each case.
 */
int ctl_story_open(const struct ctl_options *o, struct story *s);

/* A QP or request number of the command line; false: it is none. */
bool ctl_story_number(const char *text, uint64_t max, uint64_t *out);

/* "5us", "1.5ms", "2s", or milliseconds alone, as nanoseconds. */
bool ctl_story_time(const char *text, uint64_t *ns);

#endif
