/* SPDX-License-Identifier: BSD-2-Clause */
/* The other umbrella header of this directory, for connection management: see contract/cm.h. */
#ifndef CORE_CORE_CM_H
#define CORE_CORE_CM_H

#include "emu/core/contract/cm.h"

#endif
