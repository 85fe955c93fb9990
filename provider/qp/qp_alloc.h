/* SPDX-License-Identifier: BSD-2-Clause */
/* What the makers of QPs have in common, whichever queues these have. */
#ifndef UHCAV_QP_ALLOC_H
#define UHCAV_QP_ALLOC_H

#include "queue_pair.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A QP in RESET, of no queues and no handle; NULL without memory. For ibv_create_qp the library
 * fills in nothing: all public fields are ours to set. The caller frees it, or passes it to
 * uhcav_qp_finish.
 */
struct uhcav_qp *uhcav_qp_alloc(struct ibv_context *ibctx, enum ibv_qp_type type, void *qp_context,
				bool single_threaded);

/*
 * The device has made the handle of a QP without queues: maps its region, whose descriptor fd is
 * closed. 0, or -errno when the handle is destroyed again.
 */
int uhcav_qp_take_region(struct uhcav_qp *qp, uint32_t handle, uint64_t region_size, int fd);

/*
 * What a verb that makes a QP returns: the public part, or, where err is not 0, NULL with errno set
 * to -err; then qp, which may be NULL, is freed.
 */
struct ibv_qp *uhcav_qp_finish(struct uhcav_qp *qp, int err);

#endif
