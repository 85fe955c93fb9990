/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice about on-demand regions (ibv_advise_mr(3)). The device has no page tables of its own that
 * could be filled in advance: it reaches a client's memory through the client's own, so what is
 * left to it is to say whether the advice makes sense. The provider, which lives in that memory,
 * then brings the pages in.
 */
#include "mr.h"

#include <errno.h>

/* enum ib_uverbs_advise_mr_advice and ib_uverbs_advise_mr_flag */
#define PREFETCH          0u
#define PREFETCH_WRITE    1u
#define PREFETCH_NO_FAULT 2u
#define FLAG_FLUSH        1u

/*
 * The errors as the manual page tells them: EFAULT for a key that names nothing and a range
 * outside the region, ENOENT for one that is not the region's present key, EPERM for a region of
 * another domain and one that may not be written, EINVAL for one that is not on demand.
 */
static int check_range(const struct pd *pd, uint32_t lkey, uint64_t addr, uint32_t length,
		       bool write)
{
	const struct mr *mr = table_find(&pd->obj.client->dev->mrs, lkey >> 8);
	struct mr *found;
	if (!mr || mr->obj.kind != KEY_MR)
		return -EFAULT;
	if (mr->key != lkey)
		return -ENOENT;
	switch (mr_check(pd, lkey, addr, length, write ? MR_LOCAL_WRITE : 0, &found)) {
	case MR_OK:
		break;
	case MR_BAD_KEY:
	case MR_BAD_RANGE:
		return mr->access & MR_ON_DEMAND ? -EFAULT : -EINVAL;
	case MR_BAD_PD:
	case MR_BAD_ACCESS:
		return -EPERM;
	}
	return mr->access & MR_ON_DEMAND ? 0 : -EINVAL;
}

int core_advise_mr(struct client *c, const struct uhca_cmd_advise_mr *in)
{
	struct pd *pd;
	int err;
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_ODP) || in->advice > PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	err = client_find_shared(c, &c->dev->pds, in->pd, &pd);
	if (err)
		return err;
	if ((in->flags & ~FLAG_FLUSH) || !in->num_sge || in->num_sge > UHCA_ABI_ADVISE_SGES)
		return -EINVAL;
	for (uint32_t i = 0; i < in->num_sge && !err; i++)
		err = check_range(pd, in->sge[i].lkey, in->sge[i].addr, in->sge[i].length,
				  in->advice == PREFETCH_WRITE);
	return err;
}
