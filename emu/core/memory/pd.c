/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains (IBTA vol. 1, 10.2): made, counted, and freed when nothing is in them. */
#include "pd.h"

#include <errno.h>
#include <stdlib.h>

int core_alloc_pd(struct client *c, uint32_t *handle)
{
	struct pd *pd = calloc(1, sizeof(*pd));
	if (!pd)
		return -ENOMEM;
	pd->obj.client = c;
	int err = device_add(c->dev, &c->dev->pds, pd, &pd->obj.handle);
	if (err) {
		free(pd);
		return err;
	}
	*handle = pd->obj.handle;
	return 0;
}

static void pd_destroy(void *object)
{
	struct pd *pd = object;

	table_remove(&pd->obj.client->dev->pds, pd->obj.handle);
	free(pd);
}

int core_dealloc_pd(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_pd, handle, NULL);
}

static void describe_pd(const void *object, struct facts *f)
{
	const struct pd *pd = object;
	facts_number(f, "users", pd->obj.refs);
}

const struct object_type object_pd = {
	.type = CORE_OBJECT_PD,
	.name = "pd",
	.table = offsetof(struct device, pds),
	.shared = true,
	.destroy = pd_destroy,
	.describe = describe_pd,
};
