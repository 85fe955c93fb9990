/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits that change while the device works. Most are asked for in the configuration each time;
 * those of the numbers of objects stand in their tables as well.
 */
#include "emu/core/base/base.h"
#include "emu/core/contract/inject.h"

#include <errno.h>
#include <string.h>

/* A limit that is a table's size. */
struct bound {
	struct table *table;
	uint32_t max;
};

#define BOUNDS 12

static void bounds(struct device *dev, const struct core_limits *l, struct bound out[BOUNDS])
{
	const struct bound all[BOUNDS] = {
		{&dev->pds, l->max_pd},     {&dev->cqs, l->max_cq},
		{&dev->qps, l->max_qp},     {&dev->qpns, l->max_qp},
		{&dev->srqs, l->max_srq},   {&dev->srqns, l->max_srq},
		{&dev->ahs, l->max_ah},     {&dev->flows, l->max_flow},
		{&dev->wqs, l->max_wq},     {&dev->ind_tables, l->max_rwq_ind_table},
		{&dev->xrcds, l->max_xrcd}, {&dev->comp_cntrs, l->max_comp_cntr},
	};

	memcpy(out, all, sizeof(all));
}

static int find_limit(const char *name, unsigned *i)
{
	const char *has;

	for (*i = 0; (has = core_limit_name(*i)); (*i)++)
		if (strcmp(has, name) == 0)
			return 0;
	return -EINVAL;
}

/* Asked of a device that has all features: what is off has limits that could not be set. */
static int check_value(unsigned i, uint64_t value)
{
	struct core_config plain;

	core_config_default(&plain);
	return core_limit_set(&plain, i, value);
}

int core_inject_limit(struct device *dev, const char *name, uint64_t value)
{
	struct core_config changed = dev->cfg;
	struct bound bound[BOUNDS];
	unsigned i;
	int err = find_limit(name, &i);

	if (!err)
		err = check_value(i, value);
	if (err)
		return err;
	core_limit_write(&changed, i, value);
	core_config_settle(&changed);
	bounds(dev, &changed.limits, bound);
	for (i = 0; i < BOUNDS; i++)
		if (bound[i].max > bound[i].table->capacity)
			return -ERANGE;
	for (i = 0; i < BOUNDS; i++)
		bound[i].table->max = bound[i].max;
	dev->cfg = changed;
	return 0;
}
