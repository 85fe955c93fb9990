/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RSS queue pairs (ibv_create_qp_ex(3) with an indirection table): raw packet QPs without queues
 * or states, whose frames go to work queues.
 */
#ifndef UHCAV_RSS_H
#define UHCAV_RSS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

/* Does the request ask for one? */
bool uhcav_rss_wanted(const struct ibv_qp_init_attr_ex *attr);

/* NULL with errno. ibv_destroy_qp and the rest are those of other QPs. */
struct ibv_qp *uhcav_create_rss_qp(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr);

#endif
