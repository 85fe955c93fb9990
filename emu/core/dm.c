/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device memory and its registration (ibv_alloc_dm(3)): made of a region that the shell shares
 * with the client, whose first page holds the header. Regions in it are zero-based, always.
 */
#include "dm.h"
#include "mr.h"
#include "queue_region.h"
#include "region.h"

#include <errno.h>
#include <stdlib.h>

/* Memory begins on a page in every process: no address can be asked to be more even. */
#define MAX_LOG_ALIGN 12u

#define ACCESS_OF_DM                                                                               \
	(MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC | MR_ZERO_BASED |    \
	 MR_MW_BIND | MR_OPTIONAL)

static int check_room(const struct device *dev, uint64_t length)
{
	uint64_t max = dev->cfg.limits.max_dm_size;
	if (length == 0 || length > max)
		return -EINVAL;
	return length > max - dev->dm_used ? -ENOMEM : 0;
}

static int dm_create(struct client *c, uint64_t length, struct dm **out)
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
	dm->base = (uint8_t *)dm->ring.base + UHCA_ABI_DM_OFFSET;
	c->dev->dm_used += length;
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
	struct dm *dm;
	int err;
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_DM) || in->flags)
		return -EOPNOTSUPP;
	err = in->log_align > MAX_LOG_ALIGN ? -EINVAL : check_room(c->dev, in->length);
	if (!err)
		err = dm_create(c, in->length, &dm);
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
	c->dev->dm_used -= dm->length;
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

static int check_registration(const struct device *dev, const struct dm *dm,
			      const struct uhca_cmd_reg_dm_mr *in)
{
	if (in->access & ~(uint32_t)ACCESS_OF_DM || !(in->access & MR_ZERO_BASED))
		return -EINVAL;
	if (in->offset > dm->length || in->length > dm->length - in->offset)
		return -EINVAL;
	return mr_access_check(dev, in->access);
}

int core_reg_dm_mr(struct client *c, const struct uhca_cmd_reg_dm_mr *in,
		   struct uhca_cmd_reg_mr_reply *out)
{
	struct pd *pd;
	struct dm *dm;
	struct mr *mr;
	int err = client_find_shared(c, &c->dev->pds, in->pd, &pd);
	if (!err)
		err = client_find_shared(c, &c->dev->dms, in->dm, &dm);
	if (!err)
		err = check_registration(c->dev, dm, in);
	if (err)
		return err;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->kind = MR_KIND_DEVICE;
	mr->access = in->access;
	mr->addr = (uintptr_t)dm->base + in->offset;
	mr->pages.length = in->length;
	err = mr_add(c, pd, mr);
	if (err) {
		free(mr);
		return err;
	}
	mr->dm = dm;
	dm->obj.refs++;
	out->handle = mr->obj.handle;
	out->lkey = mr->key;
	out->rkey = mr->key;
	return 0;
}

int core_reg_shared_mr(struct client *c, const struct uhca_cmd_reg_shared_mr *in,
		       struct uhca_cmd_reg_mr_reply *out)
{
	(void)c;
	(void)in;
	(void)out;
	return -EOPNOTSUPP;
}
