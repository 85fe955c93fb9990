/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device does not have of verbs that work on objects which it has: the library's own
 * answers leave errno as it was. (Those that make objects set it; without objects there is nothing
 * that their other verbs could be called with.)
 */
#ifndef UHCAV_UNSUPPORTED_H
#define UHCAV_UNSUPPORTED_H

#include <infiniband/verbs.h>

/* EOPNOTSUPP, returned and in errno. */
int uhcav_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op);

#endif
