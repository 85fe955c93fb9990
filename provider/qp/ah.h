/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles (ibv_create_ah(3)) and the translation of address vectors. */
#ifndef UHCAV_AH_H
#define UHCAV_AH_H

#include "emu/abi/cmd.h"
#include "provider/context/context.h"

#include <infiniband/verbs.h>
#include <stdint.h>

/* What a request of the context names an address handle by; 0, which names none, for another's. */
static inline uint32_t uhcav_ah_name(const struct ibv_context *ibctx, const struct ibv_ah *ah)
{
	return ah->context == ibctx ? ah->handle : 0;
}

/* NULL with errno; the library fills in context and pd. */
struct ibv_ah *uhcav_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);

/* 0 or an errno value. */
int uhcav_destroy_ah(struct ibv_ah *ah);

void uhcav_ah_attr_to_abi(const struct ibv_ah_attr *from, struct uhca_abi_ah_attr *to);
void uhcav_ah_attr_from_abi(const struct uhca_abi_ah_attr *from, struct ibv_ah_attr *to);

#endif
