/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changing a region (IBTA vol. 1, 11.2.8.3 reregister; ibv_rereg_mr(3)): translation, protection
 * domain, access rights, in any combination. All that can fail is tried before anything is
 * changed, so that after a failure the old region is as it was.
 *
 * A new translation gets a new key: whoever holds the old one would reach other memory than was
 * meant. Otherwise the keys stay. Packets under way are checked again at each use of a key.
 */
#include "key_cause.h"
#include "mr.h"

#include <errno.h>

/* enum ibv_rereg_mr_flags */
#define CHANGE_TRANSLATION (1u << 0)
#define CHANGE_PD          (1u << 1)
#define CHANGE_ACCESS      (1u << 2)
#define CHANGE_ALL         (CHANGE_TRANSLATION | CHANGE_PD | CHANGE_ACCESS)

/* What the region is to become. */
struct change {
	struct pd *pd;
	uint32_t access;
	uint64_t iova;
	uint64_t addr;
	bool move;
	struct page_array pages; /* when it moves */
};

static int rereg_mr_find(struct client *c, const struct uhca_cmd_rereg_mr *in, struct mr **mr,
			 struct change *to)
{
	int err = mr_find(c, in->handle, mr);
	if (err)
		return err;
	if (!in->flags || (in->flags & ~CHANGE_ALL))
		return device_refuse(c->dev, -EINVAL,
				     "flags 0x%x are empty or have bits beyond 0x%x", in->flags,
				     CHANGE_ALL);
	/* Device memory, the null region and the implicit one have nothing that could be moved. */
	if ((*mr)->kind != MR_KIND_MEMORY)
		return device_refuse(c->dev, -EINVAL,
				     "only regions of ordinary memory can be re-registered");
	if ((*mr)->obj.refs)
		return device_refuse(c->dev, -EBUSY,
				     "the region is in use by %u windows or indirect keys",
				     (*mr)->obj.refs);
	to->pd = (*mr)->pd;
	if (in->flags & CHANGE_PD)
		err = client_find_shared(c, &c->dev->pds, in->pd, &to->pd);
	return err;
}

static int choose_access(struct device *dev, const struct uhca_cmd_rereg_mr *in,
			 const struct mr *mr, struct change *to)
{
	to->access = in->flags & CHANGE_ACCESS ? in->access : mr->access;
	return mr_access_check(dev, to->access);
}

/* The region's first address follows its translation and ZERO_BASED. */
static int choose_range(const struct client *c, const struct uhca_cmd_rereg_mr *in,
			const struct mr *mr, struct change *to)
{
	bool was_zero = mr->access & MR_ZERO_BASED;
	uint64_t length = mr->pages.length;
	to->move = in->flags & CHANGE_TRANSLATION;
	to->addr = to->move ? in->addr : mr->addr;
	if (to->access & MR_ZERO_BASED)
		to->iova = 0;
	else if (to->move)
		to->iova = in->iova;
	else
		to->iova = was_zero ? mr->addr : mr->iova;
	length = to->move ? in->length : length;
	if (length && length - 1 > UINT64_MAX - to->iova)
		return mr_refuse_wrap(c->dev, length, to->iova);
	if (!to->move)
		return 0;
	return mr_make_pages(c, in->addr, in->length, &to->pages);
}

static void apply(struct client *c, struct mr *mr, const struct change *to)
{
	if (to->move)
		key_remember(mr);
	if (to->pd != mr->pd) {
		mr->pd->obj.refs--;
		to->pd->obj.refs++;
		mr->pd = to->pd;
	}
	mr->access = to->access;
	mr->iova = to->iova;
	mr->addr = to->addr;
	if (to->move) {
		mr_refund(mr);
		mr_forget_extents(mr);
		page_array_destruct(&mr->pages);
		mr->pages = to->pages;
		mr->obj.client = c; /* the new memory is the caller's */
		mr_charge(mr);
		mr_new_key(mr);
	}
}

int core_rereg_mr(struct client *c, const struct uhca_cmd_rereg_mr *in,
		  struct uhca_cmd_reg_mr_reply *out)
{
	struct change to;
	struct mr *mr;
	int err;
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_REREG))
		return device_refuse(c->dev, -EOPNOTSUPP,
				     "the device's profile has no re-registration");
	err = rereg_mr_find(c, in, &mr, &to);
	if (!err)
		err = choose_access(c->dev, in, mr, &to);
	if (!err)
		err = choose_range(c, in, mr, &to);
	if (err)
		return err;
	make_visible(c->dev, BEFORE_REGION_END, NULL);
	apply(c, mr, &to);
	mr_reply(mr, out);
	return 0;
}
