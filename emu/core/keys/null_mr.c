/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The null region of a protection domain (ibv_alloc_null_mr(3)): as long as addresses reach, reads
 * give zeroes and writes are dropped (sgl.c). It has an L_Key only: it allows nothing to be done
 * from afar, no window can be bound to it and it cannot be changed.
 */
#include "mr.h"

#include <errno.h>
#include <stdlib.h>

int core_alloc_null_mr(struct client *c, uint32_t pd_handle, struct uhca_cmd_reg_mr_reply *out)
{
	struct pd *pd;
	struct mr *mr;
	int err = client_find_shared(c, &c->dev->pds, pd_handle, &pd);
	if (err)
		return err;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->kind = MR_KIND_NULL;
	mr->access = MR_LOCAL_WRITE;
	mr->pages.length = UINT64_MAX;
	err = mr_add(c, pd, mr);
	if (err) {
		free(mr);
		return err;
	}
	out->handle = mr->obj.handle;
	out->lkey = mr->key;
	out->rkey = 0;
	return 0;
}
