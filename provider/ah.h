/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles (ibv_create_ah(3)) and the translation of address vectors. */
#ifndef UHCAV_AH_H
#define UHCAV_AH_H

#include "cmd.h"
#include "context.h"

#include <infiniband/verbs.h>
#include <stdint.h>

struct uhcav_ah {
	union {
		struct ibv_ah ah;
		uint8_t room[UHCAV_OBJECT_ROOM / 4];
	};
	struct uhcav_context *ctx;
	uint32_t handle;
};

static inline struct uhcav_ah *uhcav_ah_of(struct ibv_ah *ah)
{
	return (struct uhcav_ah *)(void *)ah;
}

/* NULL with errno; the library fills in context and pd. */
struct ibv_ah *uhcav_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);

/* 0 or an errno value. */
int uhcav_destroy_ah(struct ibv_ah *ibah);

void uhcav_ah_attr_to_abi(const struct ibv_ah_attr *from, struct uhca_abi_ah_attr *to);
void uhcav_ah_attr_from_abi(const struct uhca_abi_ah_attr *from, struct ibv_ah_attr *to);

#endif
