/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which arrows belong together: the packets of a request and those of its answer, those that were
 * sent again, and the completion that ended it. Part of model.h.
 *
 * Where no comment tells that a packet was sent again, its PSN does: it is behind one that was
 * sent before. An answer that skips one which had to come is an implied NAK (9.7.5.2.4).
 */
#ifndef MODEL_MESSAGES_H
#define MODEL_MESSAGES_H

#include "model.h"

/* Makes messages from arrows, and finds those of completions. 0 or -ENOMEM. */
int model_find_messages(struct model *s);

#endif
