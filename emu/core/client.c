/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's life: the orderly end of everything it owned when it closes its context or dies
 * (DESIGN D12). What is its own goes first, then what it shared, unless a member of its group
 * inherits that.
 */
#include "emu/core/base/base.h"
#include "group.h"
#include "objects.h"

#include <stdlib.h>

struct client *core_client_create(struct device *dev, void *cookie)
{
	struct client *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->dev = dev;
	c->cookie = cookie;
	list_append(&dev->clients, &c->link);
	return c;
}

void core_client_destroy(struct client *c)
{
	if (!c)
		return;
	objects_destroy(c, false);
	group_leave(c);
	objects_destroy(c, true);
	list_remove(&c->link);
	free(c->doorbell);
	free(c);
}
