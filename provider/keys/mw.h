/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows (ibv_alloc_mw(3)). A bind is a request like others: post_send.c. */
#ifndef UHCAV_MW_H
#define UHCAV_MW_H

#include "emu/abi/wqe.h"
#include "provider/context/context.h"

#include <infiniband/verbs.h>
#include <stdbool.h>

struct uhcav_mw {
	union {
		struct ibv_mw mw;
		uint8_t room[UHCAV_OBJECT_ROOM / 4];
	};
	/*
	 * While a post that binds it is being built: the next of its list, and the key of before.
	 */
	struct uhcav_mw *next;
	uint32_t old_rkey;
	bool listed;
};

/* NULL with errno: EINVAL for an unknown type, EOPNOTSUPP for one that the device has not. */
struct ibv_mw *uhcav_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);

/* 0 or an errno value. A window that is bound is unbound by it. */
int uhcav_dealloc_mw(struct ibv_mw *mw);

/*
 * The part of a send entry that describes a bind: of the window's key the consumer chooses
 * the low byte (rkey's), the rest is the device's. True: the window is of the context and
 * of the type, and wqe->bind.new_rkey is what its key becomes with the post. False: there
 * is no such window, and the device, which judges a bind when its turn comes, completes it
 * with MW_BIND_ERR.
 */
bool uhcav_mw_put_bind(struct uhca_abi_send_wqe *wqe, const struct ibv_context *ibctx,
		       enum ibv_mw_type type, const struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info);

/*
 * Binds of a post that is being built: keys are the new ones at once, so that what is built
 * behind can name them, and the old ones again if it is not posted. The list is NULL when
 * there are none.
 */
void uhcav_mw_rekey(struct uhcav_mw **list, struct ibv_mw *mw, uint32_t rkey);
void uhcav_mw_posted(struct uhcav_mw **list);
void uhcav_mw_not_posted(struct uhcav_mw **list);

#endif
