/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions in device memory (ibv_reg_dm_mr(3)), zero-based, always; and in memory of a program that
 * is shared with the device (uhcadv_alloc_shared(3)), which begin where the program has it.
 */
#include "emu/core/memory/memory.h"
#include "mr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define ACCESS_OF_DM                                                                               \
	(MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC | MR_ZERO_BASED |    \
	 MR_MW_BIND | MR_OPTIONAL)

/* All access flags that stand for memory which is always there. */
#define ACCESS_OF_SHARED (ACCESS_OF_DM | MR_HUGETLB | MR_FLUSH)

/* What a registration asks for, whichever command it came with. */
struct registration {
	uint32_t pd, dm;
	uint32_t access, allowed;
	uint64_t offset, length, iova;
	bool shared;
};

/* Offset, length and iova are any numbers at all; a region's addresses must not wrap. */
static int check_registration(struct device *dev, const struct dm *dm,
			      const struct registration *in)
{
	if (in->access & ~in->allowed)
		return device_refuse(dev, -EINVAL,
				     "access 0x%x: device memory does not support 0x%x", in->access,
				     in->access & ~in->allowed);
	if (dm->shared != in->shared)
		return device_refuse(dev, -EINVAL, "handle 0x%x is not memory of this kind",
				     in->dm);
	if (in->offset > dm->length || in->length > dm->length - in->offset)
		return device_refuse(dev, -EINVAL,
				     "offset %" PRIu64 " and length %" PRIu64 " exceed the %" PRIu64
				     " bytes",
				     in->offset, in->length, dm->length);
	if (in->length && in->length - 1 > UINT64_MAX - in->iova)
		return mr_refuse_wrap(dev, in->length, in->iova);
	return mr_access_check(dev, in->access);
}

static int dm_mr_create(struct client *c, struct pd *pd, struct dm *dm,
			const struct registration *in, struct mr **out)
{
	struct mr *mr = calloc(1, sizeof(*mr));
	int err;
	if (!mr)
		return -ENOMEM;
	mr->kind = MR_KIND_DEVICE;
	mr->access = in->access;
	mr->iova = in->iova;
	mr->addr = (uintptr_t)dm->base + in->offset;
	mr->pages.length = in->length;
	err = mr_add(c, pd, mr);
	if (err) {
		free(mr);
		return err;
	}
	mr->dm = dm;
	dm->obj.refs++;
	*out = mr;
	return 0;
}

static int reg(struct client *c, const struct registration *in, struct uhca_cmd_reg_mr_reply *out)
{
	struct pd *pd;
	struct dm *dm;
	struct mr *mr;
	int err = client_find_shared(c, &c->dev->pds, in->pd, &pd);
	if (!err)
		err = client_find_shared(c, &c->dev->dms, in->dm, &dm);
	if (!err)
		err = check_registration(c->dev, dm, in);
	if (!err)
		err = dm_mr_create(c, pd, dm, in, &mr);
	if (err)
		return err;
	mr_reply(mr, out);
	return 0;
}

int core_reg_dm_mr(struct client *c, const struct uhca_cmd_reg_dm_mr *in,
		   struct uhca_cmd_reg_mr_reply *out)
{
	struct registration r = {.pd = in->pd,
				 .dm = in->dm,
				 .access = in->access,
				 .allowed = ACCESS_OF_DM,
				 .offset = in->offset,
				 .length = in->length};
	if (!(in->access & MR_ZERO_BASED))
		return device_refuse(c->dev, -EINVAL,
				     "access 0x%x: device memory needs IBV_ACCESS_ZERO_BASED",
				     in->access);
	return reg(c, &r, out);
}

int core_reg_shared_mr(struct client *c, const struct uhca_cmd_reg_shared_mr *in,
		       struct uhca_cmd_reg_mr_reply *out)
{
	struct registration r = {.pd = in->pd,
				 .dm = in->dm,
				 .access = in->access,
				 .allowed = ACCESS_OF_SHARED,
				 .offset = in->offset,
				 .length = in->length,
				 .iova = in->access & MR_ZERO_BASED ? 0 : in->iova,
				 .shared = true};
	return in->length ? reg(c, &r, out) : device_refuse(c->dev, -EINVAL, "length is 0");
}
