/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a connection is rejected (table 108 of volume 1, 12.6.7.2), for people. */
#ifndef MODEL_CM_REASONS_H
#define MODEL_CM_REASONS_H

#include <stdint.h>

/* "the program at the other end rejected it": static text, also for reasons that are none. */
const char *model_cm_reason(uint16_t reason);

#endif
