/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking objects up in the tables of a device, and the room that its timers need. */
#include "client.h"

#include <errno.h>
#include <string.h>

int device_reserve_timers(struct device *dev, uint32_t more_qps, uint32_t more_cqs)
{
	int err =
		timer_heap_reserve(&dev->timers, (dev->qps.used + more_qps) * DEVICE_TIMERS_PER_QP);

	if (err)
		return err;
	return timer_heap_reserve(&dev->cq_timers,
				  (dev->cqs.used + more_cqs) * DEVICE_TIMERS_PER_CQ);
}

struct qp *device_find_qp(const struct device *dev, uint32_t qpn)
{
	return table_find(&dev->qpns, qpn);
}

int client_find_shared(struct client *c, const struct table *t, uint32_t handle, void *object_out)
{
	struct object *o = table_find(t, handle);
	if (!o || !group_shares(c, o->client))
		return -ENOENT;
	memcpy(object_out, &o, sizeof(o));
	return 0;
}

int client_find(struct client *c, const struct table *t, uint32_t handle, void *object_out)
{
	struct object *o = table_find(t, handle);
	if (!o || o->client != c)
		return -ENOENT;
	memcpy(object_out, &o, sizeof(o)); /* a pointer to whatever begins with the object */
	return 0;
}
