/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion counters (ibv_create_comp_cntr(3)): how many operations, or bytes of them, ended well,
 * and how many did not. QPs that are attached count here at the moment at which a completion would
 * enter its CQ, whether there is one or not. The program reads the values in shared memory; the
 * device never does.
 */
#ifndef CORE_COMP_CNTR_H
#define CORE_COMP_CNTR_H

#include "emu/core/base/base.h"
#include "emu/core/memory/memory.h"

#include <stdbool.h>
#include <stdint.h>

struct comp_cntr {
	struct object obj; /* refs: one for each operation of a QP that counts here */
	bool bytes;        /* successes are bytes, not work requests; failures never are */
	uint64_t completions, errors;
	struct core_ring ring;
	struct uhca_abi_comp_cntr *page;
};

/*
 * One operation of so many bytes is complete. What it has stored is visible before the program can
 * see that it was counted. Values run over to 0.
 */
void comp_cntr_count(struct comp_cntr *cntr, bool good, uint32_t bytes);

extern const struct object_type object_comp_cntr;

#endif
