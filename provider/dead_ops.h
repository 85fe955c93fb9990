/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The op table of contexts that are closed, and of those that stand for the objects that were
 * destroyed (provider/gone/): each function tells that it is used, and fails with EINVAL.
 */
#ifndef UHCAV_DEAD_OPS_H
#define UHCAV_DEAD_OPS_H

#include "ops.h"

/* Fills the table of a layout generation, as uhcav_ops_build does. */
void uhcav_dead_ops_build(int generation, void *table[UHCAV_OP_SLOTS]);

#endif
