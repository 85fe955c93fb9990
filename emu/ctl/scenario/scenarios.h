/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of scenario: files that say what is run, what is done to it and what must be
 * seen; rules that never fired, and a search for the few that break a program. run, live and
 * captured call; it calls lib and line. Begin at scenario_run.h, then scenario.h.
 */
#ifndef CTL_SCENARIO_MODULE_H
#define CTL_SCENARIO_MODULE_H

#include "minimise.h"
#include "never_fired.h"
#include "scenario_run.h"

#endif
