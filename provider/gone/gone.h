/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "gone": what a program destroyed stays known for a while (uhca-run --sanitize). The memory
 * of a destroyed object is kept, and leads who uses it to functions that tell of it and fail:
 *
 *   keeping.c    the memory of the last objects that were destroyed, freed when others come
 *   tomb.c       what is known of them, and contexts that lead to those functions
 *   report.c       what is said when one is used
 *   library.c    the same of objects that the libraries make by themselves
 *   unacked.c    events of rdma_cm that hold up the end of their id
 *
 * Callers: the driver, which makes such contexts, and sanitize, which says what was destroyed.
 */
#ifndef UHCAV_GONE_H
#define UHCAV_GONE_H

#include "keeping.h"
#include "library.h"
#include "report.h"
#include "tomb.h"
#include "unacked.h"

#endif
