/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules about the device's accesses to the memory of programs. Called only while such rules are
 * there.
 */
#ifndef IO_FAULT_MEM_H
#define IO_FAULT_MEM_H

#include "emu/core/core.h"

struct io_client;
struct io_faults;

/* Shows each contiguous piece to the rules; true: the device is to find nothing there. */
bool io_fault_mem(struct io_faults *f, struct io_client *c, const struct core_span *span,
		  unsigned n);

#endif
