/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses that leave the GID table and come back, as ib_core has them go
 * (drivers/infiniband/core/cache.c: del_gid, find_gid, dispatch_gid_change_event): each entry has
 * one GID_CHANGE of its own, and one that a QP or an address handle holds leaves a place that
 * nothing takes until the last of them lets go. The hardware forgets it at once: what holds it
 * sends from nowhere, and is not helped when the address comes back elsewhere.
 */
#include "emu/core/base/base.h"
#include "emu/core/contract/port.h"
#include "emu/core/qp/queue_pair.h"

#include <errno.h>
#include <string.h>

/* Connected types have an address vector from RTR on. */
static bool holds(const struct qp *qp, uint32_t index)
{
	return qp->type != QPT_UD && qp->type != QPT_RAW_PACKET && qp->state != QPS_RESET &&
	       qp->state != QPS_INIT && qp->attr.ah.sgid_index == index;
}

static bool is_held(const struct device *dev, uint32_t index)
{
	uint32_t cursor = 0;
	const struct qp *qp;
	const struct ah *ah;

	while ((qp = table_next(&dev->qps, &cursor)))
		if (holds(qp, index))
			return true;
	for (cursor = 0; (ah = table_next(&dev->ahs, &cursor));)
		if (ah->attr.sgid_index == index)
			return true;
	return false;
}

static void set_v1(struct core_port_look *look, uint32_t index, bool v1)
{
	const uint32_t bit = 1u << index % 32;

	look->gid_v1[index / 32] = (look->gid_v1[index / 32] & ~bit) | (v1 ? bit : 0);
}

int core_gid_remove(struct device *dev, uint32_t index)
{
	uint32_t cursor = 0;
	struct qp *qp;

	if (index >= dev->cfg.look.port[0].gid_entries)
		return -ERANGE;
	if (roce_addr_is_zero(dev->cfg.gid[index]))
		return -ENOENT;
	memset(dev->cfg.gid[index], 0, sizeof(dev->cfg.gid[index]));
	set_v1(&dev->cfg.look.port[0], index, false);
	dev->gid_left = dev->port_checks = true;
	while ((qp = table_next(&dev->qps, &cursor)))
		if (holds(qp, index))
			memset(qp->flow.src, 0, sizeof(qp->flow.src));
	port_raise_event(dev, UHCA_ABI_EVENT_GID_CHANGE);
	return 0;
}

static bool is_free(const struct device *dev, uint32_t index)
{
	return roce_addr_is_zero(dev->cfg.gid[index]) && !is_held(dev, index);
}

/* An address may stand there twice: for RoCE v1 and for v2. */
static bool is_there(const struct device *dev, const uint8_t gid[16], bool v1)
{
	const struct core_port_look *look = &dev->cfg.look.port[0];

	for (uint32_t i = 0; i < look->gid_entries; i++)
		if (core_gid_is_v1(look, i) == v1 && memcmp(dev->cfg.gid[i], gid, 16) == 0)
			return true;
	return false;
}

int core_gid_place(const struct device *dev, const uint8_t gid[16], bool v1, uint32_t index)
{
	const uint32_t entries = dev->cfg.look.port[0].gid_entries;

	if (roce_addr_is_zero(gid) || (index != CORE_GID_LOWEST && index >= entries))
		return -ERANGE;
	if (is_there(dev, gid, v1))
		return -EEXIST;
	if (index == CORE_GID_LOWEST)
		for (index = 0; index < entries && !is_free(dev, index);)
			index++;
	if (index == entries || !is_free(dev, index))
		return -ENOSPC;
	return (int)index;
}

int core_gid_add(struct device *dev, const uint8_t gid[16], bool v1, uint32_t index)
{
	int place = core_gid_place(dev, gid, v1, index);

	if (place < 0)
		return place;
	memcpy(dev->cfg.gid[place], gid, sizeof(dev->cfg.gid[place]));
	set_v1(&dev->cfg.look.port[0], (uint32_t)place, v1);
	port_raise_event(dev, UHCA_ABI_EVENT_GID_CHANGE);
	return place;
}

int core_gid_index(const struct device *dev, const uint8_t gid[16])
{
	return device_find_gid(dev, gid);
}

const uint8_t *core_gid_at(const struct device *dev, uint32_t index)
{
	return index < dev->cfg.look.port[0].gid_entries && !roce_addr_is_zero(dev->cfg.gid[index])
		       ? dev->cfg.gid[index]
		       : NULL;
}
