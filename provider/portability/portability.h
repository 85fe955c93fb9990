/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "portability": what a program asks for, held against what is published of adapters
 * (emu/abi/adapters.h). It is no mistake to ask; where one of them lacks it, that is told, once for
 * each thing (check "portable", which is on only by its name). RC is not told of: who uses it knows
 * that an adapter without it is none for him.
 *
 * Who may call: the sanitizer. Below it: the module "finding". Any thread.
 */
#ifndef UHCAV_PORTABILITY_H
#define UHCAV_PORTABILITY_H

#include "provider/diagnostic/diagnostic.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* A queue pair was made; cap is what was asked for. */
void uhcav_portability_qp(struct uhcav_here here, enum ibv_qp_type type,
			  const struct ibv_qp_cap *cap);

/* An SRQ of so many elements for each receive. */
void uhcav_portability_srq(struct uhcav_here here, uint32_t max_sge);

/* It was changed: how many READs and atomics may be under way. */
void uhcav_portability_modify(struct uhcav_here here, const struct ibv_qp_attr *attr,
			      int attr_mask);

/* A window of this type; a region with this access; a region changed. */
void uhcav_portability_mw(struct uhcav_here here, enum ibv_mw_type type);
void uhcav_portability_mr(struct uhcav_here here, int access);
void uhcav_portability_rereg(struct uhcav_here here);

/* A CQ or an SRQ is to be of another size. */
void uhcav_portability_resize(struct uhcav_here here, bool is_srq);

/* A READ brings something to a region with this access (enum ibv_access_flags). */
void uhcav_portability_sink(const struct uhcav_stack *stack, int access);

/* A send request of this opcode (enum ibv_wr_opcode) and so many elements. */
void uhcav_portability_send(const struct uhcav_stack *stack, unsigned opcode, uint32_t n_sge);

#endif
