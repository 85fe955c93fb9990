/* SPDX-License-Identifier: BSD-2-Clause */
/* The sending side's row in the list of engines. */
#ifndef CORE_SEND_ENGINE_H
#define CORE_SEND_ENGINE_H

#include "emu/core/qp/queue_pair.h"

extern const struct qp_engine send_engine;

#endif
