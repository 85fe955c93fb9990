/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of instance: where an instance lives (its directory, addresses, network), and
 * what is kept of it, and a command in it that hangs. scenario and run call; it calls lib and line.
 * Begin at run_dir.h.
 */
#ifndef CTL_INSTANCE_MODULE_H
#define CTL_INSTANCE_MODULE_H

#include "pidfd.h"
#include "run_addr.h"
#include "run_dir.h"
#include "run_hang.h"
#include "run_keep.h"
#include "run_network.h"
#include "run_only.h"
#include "run_reaper.h"

#endif
