/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking objects up in the tables of a device, and the room that its timers need. */
#include "base.h"

#include <errno.h>
#include <string.h>

int device_reserve_timers(struct device *dev, uint32_t more_qps, uint32_t more_cqs)
{
	int err =
		timer_heap_reserve(&dev->timers, (dev->qps.used + more_qps) * DEVICE_TIMERS_PER_QP);

	if (err)
		return err;
	err = timer_heap_reserve(&dev->rates, (dev->qps.used + more_qps) * DEVICE_RATES_PER_QP);
	if (err)
		return err;
	return timer_heap_reserve(&dev->cq_timers,
				  (dev->cqs.used + more_cqs) * DEVICE_TIMERS_PER_CQ);
}

struct qp *device_find_qp(const struct device *dev, uint32_t qpn)
{
	return table_find(&dev->qpns, qpn);
}

/* What a table has, and the limit that it keeps. */
static const struct kind {
	size_t table; /* offset in the device */
	const char *name, *limit;
} kinds[] = {
	{offsetof(struct device, pds), "protection domain", "max_pd"},
	{offsetof(struct device, mrs), "region or window", "max_mr"},
	{offsetof(struct device, dms), "device memory", "1024 pieces"},
	{offsetof(struct device, cqs), "CQ", "max_cq"},
	{offsetof(struct device, comp_cntrs), "completion counter", "max_comp_cntr"},
	{offsetof(struct device, qps), "QP", "max_qp"},
	{offsetof(struct device, qpns), "QP", "max_qp"},
	{offsetof(struct device, qp_shares), "QP", "max_qp"},
	{offsetof(struct device, srqs), "SRQ", "max_srq"},
	{offsetof(struct device, srqns), "SRQ", "max_srq"},
	{offsetof(struct device, ahs), "address handle", "max_ah"},
	{offsetof(struct device, flows), "flow rule", "max_flow"},
	{offsetof(struct device, wqs), "work queue", "max_wq"},
	{offsetof(struct device, ind_tables), "indirection table", "max_rwq_ind_table"},
	{offsetof(struct device, xrcds), "XRC domain", "max_xrcd"},
};

static const struct kind *kind_of(const struct device *dev, const struct table *t)
{
	size_t at = (size_t)((const char *)t - (const char *)dev), i = 0;

	while (kinds[i].table != at)
		i++;
	return &kinds[i];
}

static int no_such(struct client *c, const struct table *t, uint32_t handle)
{
	return device_refuse(c->dev, -ENOENT, "handle 0x%x: this context has no such %s", handle,
			     kind_of(c->dev, t)->name);
}

int device_add(struct device *dev, struct table *t, void *object, uint32_t *handle)
{
	int err = table_add(t, object, handle);

	if (err && t->used >= t->max)
		device_refuse(dev, err, "%s limit reached: the device has %u (%s)",
			      kind_of(dev, t)->name, t->used, kind_of(dev, t)->limit);
	return err;
}

int client_find_shared(struct client *c, const struct table *t, uint32_t handle, void *object_out)
{
	struct object *o = table_find(t, handle);
	if (!o || !group_shares(c, o->client))
		return no_such(c, t, handle);
	memcpy(object_out, &o, sizeof(o));
	return 0;
}

int client_find(struct client *c, const struct table *t, uint32_t handle, void *object_out)
{
	struct object *o = table_find(t, handle);
	if (!o || o->client != c)
		return no_such(c, t, handle);
	memcpy(object_out, &o, sizeof(o)); /* a pointer to whatever begins with the object */
	return 0;
}

int client_destroy(struct client *c, const struct object_type *type, uint32_t handle,
		   void (*before)(void *object))
{
	const struct table *t = (const void *)((const char *)c->dev + type->table);
	struct object *o;
	int err =
		type->shared ? client_find_shared(c, t, handle, &o) : client_find(c, t, handle, &o);

	if (err)
		return err;
	if (o->refs)
		return device_refuse(c->dev, -EBUSY, "the %s is in use by %u objects",
				     kind_of(c->dev, t)->name, o->refs);
	if (before)
		before(o);
	type->destroy(o);
	return 0;
}
