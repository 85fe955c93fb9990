/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device memory (ibv_alloc_dm(3)), and memory of a program that is shared with the device
 * (uhcadv_alloc_shared(3)): made of memory that the shell shares with the client. It has no header,
 * so that the file begins with it (ibv_dm_export_dmabuf_fd(3)).
 */
#include "dm.h"
#include "emu/abi/region.h"
#include "queue_region.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Memory begins on a page in every process: no address can be asked to be more even. */
#define MAX_LOG_ALIGN 12u

/* Bytes in use of each kind; each has its own limit. */
static uint64_t *used_of(struct device *dev, bool shared)
{
	return shared ? &dev->shared_used : &dev->dm_used;
}

static int check_capacity(struct device *dev, uint64_t length, bool shared)
{
	const struct core_limits *l = &dev->cfg.limits;
	uint64_t max = shared ? l->max_shared_size : l->max_dm_size;
	const char *limit = shared ? "max_shared_size" : "max_dm_size";
	if (length == 0)
		return device_refuse(dev, -EINVAL, "length is 0");
	if (device_check_limit(dev, "length", length, limit, max))
		return -EINVAL; /* as was said */
	if (length > max - *used_of(dev, shared))
		return device_refuse(dev, -ENOMEM,
				     "length %" PRIu64 ": %" PRIu64 " bytes of %s, %" PRIu64
				     ", are in use",
				     length, *used_of(dev, shared), limit, max);
	return 0;
}

static int dm_create(struct client *c, uint64_t length, bool shared, struct dm **out)
{
	struct dm *dm = calloc(1, sizeof(*dm));
	if (!dm)
		return -ENOMEM;
	int err = queue_memory_create(c, length, &dm->ring);
	if (err)
		goto free_dm;
	err = device_add(c->dev, &c->dev->dms, dm, &dm->obj.handle);
	if (err)
		goto free_ring;
	dm->obj.client = c;
	dm->length = length;
	dm->shared = shared;
	dm->base = dm->ring.base;
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
		return device_refuse(c->dev, -EOPNOTSUPP,
				     "the device's profile has no device memory");
	if (in->log_align > MAX_LOG_ALIGN)
		return device_refuse(c->dev, -EINVAL, "log_align_req %u exceeds %u", in->log_align,
				     MAX_LOG_ALIGN);
	if (in->flags & ~UHCA_ABI_DM_SHARED)
		return -EINVAL; /* no library of ours */
	err = check_capacity(c->dev, in->length, shared);
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

static void dm_destroy(void *object)
{
	struct dm *dm = object;
	struct client *c = dm->obj.client;
	table_remove(&c->dev->dms, dm->obj.handle);
	*used_of(c->dev, dm->shared) -= dm->length;
	queue_region_destroy(c, &dm->ring);
	free(dm);
}

int core_free_dm(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_dm, handle, NULL);
}

static void describe_dm(const void *object, struct facts *f)
{
	const struct dm *dm = object;
	facts_number(f, "length", dm->length);
	facts_number(f, "users", dm->obj.refs);
}

const struct object_type object_dm = {
	.type = CORE_OBJECT_DM,
	.name = "dm",
	.table = offsetof(struct device, dms),
	.shared = true,
	.destroy = dm_destroy,
	.describe = describe_dm,
};
