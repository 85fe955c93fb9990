/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice about on-demand regions (ibv_advise_mr(3)). The device has no page tables of its own that
 * could be filled in advance: it reaches a client's memory through the client's own, so what is
 * left to it is to say whether the advice makes sense. The provider, which lives in that memory,
 * then brings the pages in.
 */
#include "mr.h"

#include <errno.h>
#include <inttypes.h>

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
	struct device *dev = pd->obj.client->dev;
	const struct mr *mr = table_find(&dev->mrs, lkey >> 8);
	struct mr *found;
	if (!mr || mr->obj.kind != KEY_MR)
		return device_refuse(dev, -EFAULT, "lkey 0x%x is not a region", lkey);
	if (mr->key != lkey)
		return device_refuse(dev, -ENOENT, "lkey 0x%x is not the region's key, 0x%x", lkey,
				     mr->key);
	switch (mr_check(pd, lkey, addr, length, write ? MR_LOCAL_WRITE : 0, &found)) {
	case MR_OK:
		break;
	case MR_BAD_KEY:
	case MR_BAD_RANGE:
		if (!(mr->access & MR_ON_DEMAND))
			break;
		return device_refuse(dev, -EFAULT,
				     "0x%" PRIx64 " + %u is not inside the region of lkey 0x%x",
				     addr, length, lkey);
	case MR_BAD_PD:
		return device_refuse(dev, -EPERM, "lkey 0x%x is of another protection domain",
				     lkey);
	case MR_BAD_ACCESS:
		return device_refuse(dev, -EPERM,
				     "PREFETCH_WRITE: the region of lkey 0x%x lacks LOCAL_WRITE",
				     lkey);
	}
	if (mr->access & MR_ON_DEMAND)
		return 0;
	return device_refuse(dev, -EINVAL, "lkey 0x%x: the region lacks IBV_ACCESS_ON_DEMAND",
			     lkey);
}

int core_advise_mr(struct client *c, const struct uhca_cmd_advise_mr *in)
{
	struct pd *pd;
	int err;
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_ODP))
		return device_refuse(c->dev, -EOPNOTSUPP,
				     "the device's profile has no on-demand paging");
	if (in->advice > PREFETCH_NO_FAULT)
		return device_refuse(c->dev, -EOPNOTSUPP, "advice %u is unknown", in->advice);
	err = client_find_shared(c, &c->dev->pds, in->pd, &pd);
	if (err)
		return err;
	if (in->flags & ~FLAG_FLUSH)
		return device_refuse(c->dev, -EINVAL, "flags 0x%x has unknown bits", in->flags);
	if (!in->num_sge || in->num_sge > UHCA_ABI_ADVISE_SGES)
		return device_refuse(c->dev, -EINVAL, "num_sge %u is not from 1 to %u", in->num_sge,
				     UHCA_ABI_ADVISE_SGES);
	for (uint32_t i = 0; i < in->num_sge && !err; i++)
		err = check_range(pd, in->sge[i].lkey, in->sge[i].addr, in->sge[i].length,
				  in->advice == PREFETCH_WRITE);
	return err;
}
