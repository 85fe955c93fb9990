/* SPDX-License-Identifier: BSD-2-Clause */
/* What came of a capture, in some sentences: what failed, and what happened on the way. */
#ifndef MODEL_PAGE_OUTCOME_H
#define MODEL_PAGE_OUTCOME_H

#include "emu/model/capture/capture_model.h"

enum page_mood { PAGE_BAD, PAGE_GOOD, PAGE_PLAIN };

typedef void page_sentence(void *arg, enum page_mood mood, const char *text);

/* Calls say for each sentence, the worst first. 0 or -ENOMEM. */
int page_outcome(const struct model *s, page_sentence *say, void *arg);

#endif
