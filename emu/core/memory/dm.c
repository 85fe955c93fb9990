/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device memory and its registration (ibv_alloc_dm(3)), and memory of a program that is shared with
 * the device (uhcadv_alloc_shared(3)): made of a region that the shell shares with the client,
 * whose first page holds the header. Regions in device memory are zero-based, always; those in
 * shared memory begin where the program has it.
 */
#include "dm.h"
#include "emu/abi/region.h"
#include "emu/core/keys/mr.h"
#include "queue_region.h"

#include <errno.h>
#include <stdlib.h>

/* Memory begins on a page in every process: no address can be asked to be more even. */
#define MAX_LOG_ALIGN 12u

#define ACCESS_OF_DM                                                                               \
	(MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC | MR_ZERO_BASED |    \
	 MR_MW_BIND | MR_OPTIONAL)

/* All access flags that stand for memory which is always there. */
#define ACCESS_OF_SHARED (ACCESS_OF_DM | MR_HUGETLB | MR_FLUSH_GLOBAL)

/* Bytes in use of each kind; each has its own limit. */
static uint64_t *used_of(struct device *dev, bool shared)
{
	return shared ? &dev->shared_used : &dev->dm_used;
}

static int check_room(struct device *dev, uint64_t length, bool shared)
{
	const struct core_limits *l = &dev->cfg.limits;
	uint64_t max = shared ? l->max_shared_size : l->max_dm_size;
	if (length == 0 || length > max)
		return -EINVAL;
	return length > max - *used_of(dev, shared) ? -ENOMEM : 0;
}

static int dm_create(struct client *c, uint64_t length, bool shared, struct dm **out)
{
	struct dm *dm = calloc(1, sizeof(*dm));
	if (!dm)
		return -ENOMEM;
	int err =
		queue_region_create(c, UHCA_ABI_REGION_DM, length + UHCA_ABI_DM_OFFSET, &dm->ring);
	if (err)
		goto free_dm;
	err = table_add(&c->dev->dms, dm, &dm->obj.handle);
	if (err)
		goto free_ring;
	dm->obj.client = c;
	dm->length = length;
	dm->shared = shared;
	dm->base = (uint8_t *)dm->ring.base + UHCA_ABI_DM_OFFSET;
	*used_of(c->dev, shared) += length;
	*out = dm;
	return 0;

free_ring:
	queue_region_destroy(c, &dm->ring);
free_dm:
	free(dm);
	return err;
}

int core_alloc_dm(struct client *c, const struct uhca_cmd_alloc_dm *in,
		  struct uhca_cmd_alloc_dm_reply *out, struct core_ring *ring)
{
	bool shared = in->flags & UHCA_ABI_DM_SHARED;
	struct dm *dm;
	int err;
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_DM))
		return -EOPNOTSUPP;
	if (in->log_align > MAX_LOG_ALIGN || (in->flags & ~UHCA_ABI_DM_SHARED))
		return -EINVAL;
	err = check_room(c->dev, in->length, shared);
	if (!err)
		err = dm_create(c, in->length, shared, &dm);
	if (err)
		return err;
	out->handle = dm->obj.handle;
	out->region_size = queue_region_size(&dm->ring);
	*ring = dm->ring;
	return 0;
}

void dm_put(struct dm *dm)
{
	dm->obj.refs--;
}

void dm_destroy(struct dm *dm)
{
	struct client *c = dm->obj.client;
	table_remove(&c->dev->dms, dm->obj.handle);
	*used_of(c->dev, dm->shared) -= dm->length;
	queue_region_destroy(c, &dm->ring);
	free(dm);
}

int core_free_dm(struct client *c, uint32_t handle)
{
	struct dm *dm;
	int err = client_find_shared(c, &c->dev->dms, handle, &dm);
	if (err)
		return err;
	if (dm->obj.refs)
		return -EBUSY;
	dm_destroy(dm);
	return 0;
}

/* What a registration asks for, whichever command it came with. */
struct registration {
	uint32_t pd, dm;
	uint32_t access, allowed;
	uint64_t offset, length, iova;
	bool shared;
};

/* Offset, length and iova are any numbers at all; a region's addresses must not wrap. */
static int check_registration(const struct device *dev, const struct dm *dm,
			      const struct registration *in)
{
	if ((in->access & ~in->allowed) || dm->shared != in->shared)
		return -EINVAL;
	if (in->offset > dm->length || in->length > dm->length - in->offset)
		return -EINVAL;
	if (in->length && in->length - 1 > UINT64_MAX - in->iova)
		return -EINVAL;
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
	out->handle = mr->obj.handle;
	out->lkey = mr->key;
	out->rkey = mr->key;
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
	return in->access & MR_ZERO_BASED ? reg(c, &r, out) : -EINVAL;
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
	return in->length ? reg(c, &r, out) : -EINVAL;
}
