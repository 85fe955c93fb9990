/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which arrows belong together: the packets of a request and those of its answer, those that were
 * sent again, and the completion that ended it. Part of story.h.
 *
 * Where no comment tells that a packet was sent again, its PSN does: it is behind one that was
 * sent before. An answer that skips one which had to come is an implied NAK (9.7.5.2.4).
 */
#ifndef STORY_MESSAGES_H
#define STORY_MESSAGES_H

#include "story.h"

/* Makes messages from arrows, and finds those of completions. 0 or -ENOMEM. */
int story_find_messages(struct story *s);

#endif
