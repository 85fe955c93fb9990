/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of fault: what the rules of emu/fault do to the packets, calls, completions and
 * memory of this daemon, and to its devices. ucma, ctl and the core's operations call; it calls
 * serve and all below. Begin at faults.h, then fault_box.c.
 */
#ifndef IO_FAULT_MODULE_H
#define IO_FAULT_MODULE_H

#include "fault_box.h"
#include "fault_call.h"
#include "fault_cqe.h"
#include "fault_file.h"
#include "fault_mem.h"
#include "fault_trace.h"
#include "faults.h"

#endif
