/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a device and closing it: the two ends of a context's life. */
#ifndef UHCAV_OPEN_H
#define UHCAV_OPEN_H

#include "device.h"

#include <infiniband/verbs.h>

/*
 * Connects to the daemon of $UHCA_DIR and opens device "name" there. 0 or -errno: -ENODEV without
 * UHCA_DIR, -EPERM when who listens there may not have our memory (who_listens.h), what connect(2)
 * says, what the daemon answers to HELLO. On success the context is watched (monitor.h),
 * ibctx->async_fd is set and belongs to ibctx.
 */
int uhcav_context_create(struct ibv_context *ibctx, const char *name, struct uhcav_context **out);

/*
 * The same for a context that shares the objects of the one the file names (its device's name is
 * "name"): in addition -ENODEV when that context is gone, -EACCES when it is another user's.
 */
int uhcav_context_import(struct ibv_context *ibctx, const struct uhca_abi_context_file *file,
			 struct uhcav_context **out);

/* Disconnects and frees; the async fd stays with ibctx. What a child opened is closed before. */
void uhcav_context_destroy(struct uhcav_context *ctx);

#endif
