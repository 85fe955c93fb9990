/* SPDX-License-Identifier: BSD-2-Clause */
/* The receiving side's row in the list of engines. */
#ifndef CORE_RECEIVE_ENGINE_H
#define CORE_RECEIVE_ENGINE_H

#include "emu/core/qp/queue_pair.h"

extern const struct qp_engine receive_engine;

#endif
