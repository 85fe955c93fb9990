/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device says of itself (ibv_query_device_ex(3), ibv_query_port(3)). */
#ifndef UHCAV_DEVICE_QUERY_H
#define UHCAV_DEVICE_QUERY_H

#include "device.h"

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/*
 * 0 or an errno value. Of *attr no more than attr_size bytes are written: libibverbs passes the
 * size of what its caller has, which may be smaller or larger than the struct we were built with.
 */
int uhcav_query_device_ex(struct ibv_context *ibctx, const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size);

/* 0 or an errno value. Writes no field that older libraries do not have. */
/* The generation of the library (ops.h) that asks; before any context is opened. */
void uhcav_query_for(int generation);

int uhcav_query_port_speed(struct ibv_context *ibctx, uint32_t port, uint64_t *speed);
int uhcav_query_port(struct ibv_context *ibctx, uint8_t port, struct ibv_port_attr *attr);

/* All that the device says of itself. 0 or -errno. */
int uhcav_device_ask(struct uhcav_context *ctx, struct uhca_cmd_device_attr *reply);

/* What the device has of UHCA_ABI_HAS_*; it is asked once. 0 or -errno. Any thread. */
int uhcav_device_features(struct uhcav_context *ctx, uint32_t *features);

/* Its node GUID, by which others know it; 0: the daemon does not answer. Any thread. */
uint64_t uhcav_device_guid(struct uhcav_context *ctx);

#endif
