/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of this directory: the only header that the shell, the simulator and the fuzzers
 * include, with core_cm.h for those who manage connections. The contract stands in
 * contract/verbs.h.
 */
#ifndef CORE_H
#define CORE_H

#include "emu/core/contract/inject.h"
#include "emu/core/contract/late.h"
#include "emu/core/contract/leave.h"
#include "emu/core/contract/qp_type.h"
#include "emu/core/contract/verbs.h"
#include "emu/core/contract/walk.h"

#endif
