/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of sweep: uhca-run --sweep, but for what a run is. Which faults a test is run
 * with, the runs side by side, what they found, and the reports. run calls; it calls lib and
 * instance. Begin at sweep_item.h, then sweep_plan.h and sweep_result.h.
 */
#ifndef CTL_SWEEP_MODULE_H
#define CTL_SWEEP_MODULE_H

#include "sweep_errno.h"
#include "sweep_evidence.h"
#include "sweep_folder.h"
#include "sweep_group.h"
#include "sweep_item.h"
#include "sweep_judge.h"
#include "sweep_known.h"
#include "sweep_plan.h"
#include "sweep_pool.h"
#include "sweep_report.h"
#include "sweep_result.h"

#endif
