/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of plan: the rules that are in force, what they have seen, and their trace, which
 * can be replayed. net, chaos and the daemon call; it calls rule. Begin at plan.h.
 */
#ifndef FAULT_PLAN_MODULE_H
#define FAULT_PLAN_MODULE_H

#include "plan.h"
#include "plan_trace.h"

#endif
