/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion counters: their life, and what changes their values. */
#include "comp_cntr.h"

#include "emu/abi/region.h"

#include <errno.h>
#include <stdlib.h>

static void publish(const struct comp_cntr *cntr)
{
	__atomic_store_n(&cntr->page->completions, cntr->completions, __ATOMIC_RELEASE);
	__atomic_store_n(&cntr->page->errors, cntr->errors, __ATOMIC_RELEASE);
}

static int comp_cntr_create(struct client *c, uint32_t type, struct comp_cntr **out)
{
	struct device *dev = c->dev;
	struct comp_cntr *cntr = calloc(1, sizeof(*cntr));
	int err;

	if (!cntr)
		return -ENOMEM;
	err = queue_region_create(c, UHCA_ABI_REGION_COMP_CNTR, sizeof(*cntr->page), &cntr->ring);
	if (err)
		goto free_cntr;
	err = device_add(dev, &dev->comp_cntrs, cntr, &cntr->obj.handle);
	if (err)
		goto free_region;
	cntr->obj.client = c;
	cntr->bytes = type == UHCA_ABI_COMP_BYTES;
	cntr->page = cntr->ring.base;
	*out = cntr;
	return 0;

free_region:
	queue_region_destroy(c, &cntr->ring);
free_cntr:
	free(cntr);
	return err;
}

int core_create_comp_cntr(struct client *c, const struct uhca_cmd_create_comp_cntr *in,
			  struct uhca_cmd_create_comp_cntr_reply *out, struct core_ring *ring)
{
	struct device *dev = c->dev;
	struct comp_cntr *cntr;
	int err;

	if (!dev->cfg.limits.max_comp_cntr)
		return device_refuse(dev, -EOPNOTSUPP,
				     "the device's profile has no completion counters");
	if (in->type != UHCA_ABI_COMP_WRS && in->type != UHCA_ABI_COMP_BYTES)
		return device_refuse(dev, -EINVAL,
				     "type %u is not IBV_COMP_CNTR_TYPE_WRS or _BYTES", in->type);
	err = comp_cntr_create(c, in->type, &cntr);
	if (err)
		return err;
	out->handle = cntr->obj.handle;
	out->region_size = queue_region_size(&cntr->ring);
	*ring = cntr->ring;
	return 0;
}

static void comp_cntr_destroy(void *object)
{
	struct comp_cntr *cntr = object;
	struct client *c = cntr->obj.client;

	table_remove(&c->dev->comp_cntrs, cntr->obj.handle);
	queue_region_destroy(c, &cntr->ring);
	free(cntr);
}

int core_destroy_comp_cntr(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_comp_cntr, handle, NULL);
}

int core_modify_comp_cntr(struct client *c, const struct uhca_cmd_modify_comp_cntr *in, bool add)
{
	struct comp_cntr *cntr;
	int err = client_find(c, &c->dev->comp_cntrs, in->handle, &cntr);
	uint64_t *value;

	if (err)
		return err;
	value = in->errors ? &cntr->errors : &cntr->completions;
	*value = (add ? *value : 0) + in->value;
	publish(cntr);
	return 0;
}

void comp_cntr_count(struct comp_cntr *cntr, bool good, uint32_t bytes)
{
	make_visible(cntr->obj.client->dev, BEFORE_COUNT, NULL);
	if (good)
		cntr->completions += cntr->bytes ? bytes : 1;
	else
		cntr->errors++;
	publish(cntr);
}

static void describe_comp_cntr(const void *object, struct facts *f)
{
	const struct comp_cntr *cntr = object;

	facts_text(f, "type", cntr->bytes ? "bytes" : "wrs");
	facts_number(f, "completions", cntr->completions);
	facts_number(f, "errors", cntr->errors);
	facts_number(f, "users", cntr->obj.refs);
}

const struct object_type object_comp_cntr = {
	.type = CORE_OBJECT_COMP_CNTR,
	.name = "comp_cntr",
	.table = offsetof(struct device, comp_cntrs),
	.destroy = comp_cntr_destroy,
	.describe = describe_comp_cntr,
};
