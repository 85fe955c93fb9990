/* SPDX-License-Identifier: BSD-2-Clause */
/* XRC domains (ibv_open_xrcd(3)). What the descriptor names is for the daemon to find out. */
#ifndef UHCAV_XRCD_H
#define UHCAV_XRCD_H

#include "provider/context/context.h"

#include <infiniband/verbs.h>
#include <stdint.h>

struct uhcav_xrcd {
	union {
		struct ibv_xrcd xrcd;
		uint8_t room[UHCAV_OBJECT_ROOM / 4];
	};
	struct uhcav_context *ctx;
	uint32_t handle;
};

static inline struct uhcav_xrcd *uhcav_xrcd_of(struct ibv_xrcd *xrcd)
{
	return (struct uhcav_xrcd *)(void *)xrcd;
}

/* ibv_open_xrcd(3): NULL with errno; EAGAIN when O_CREAT is missing, EINVAL with O_EXCL. */
struct ibv_xrcd *uhcav_open_xrcd(struct ibv_context *ibctx, struct ibv_xrcd_init_attr *attr);

/* 0 or an errno value; EBUSY while a QP or SRQ is in it. */
int uhcav_close_xrcd(struct ibv_xrcd *ibxrcd);

#endif
