/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a connection is rejected (table 108 of volume 1, 12.6.7.2), for people. */
#ifndef STORY_CM_REASONS_H
#define STORY_CM_REASONS_H

#include <stdint.h>

/* "the program at the other end rejected it": static text, also for reasons that are none. */
const char *story_cm_reason(uint16_t reason);

#endif
