/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's life: the orderly end of everything it owned when it closes its context or dies
 * (design D12). What is its own goes first, then what it shared, unless a member of its group
 * inherits that.
 */
#include "emu/core/base/base.h"
#include "emu/core/keys/keys.h"
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
	list_init(&c->copies_on_poll);
	list_append(&dev->clients, &c->link);
	return c;
}

static bool own_objects(struct client *c, uint32_t *steps)
{
	return objects_destroy(c, false, steps);
}

static bool shared_objects(struct client *c, uint32_t *steps)
{
	return objects_destroy(c, true, steps);
}

/*
 * In this order. Descriptions go before the regions they name: each region is free then, and none
 * has to look who names it.
 */
static bool (*const stages[])(struct client *c, uint32_t *steps) = {
	own_objects,
	group_leave,
	keys_close,
	shared_objects,
};
#define STAGES (sizeof(stages) / sizeof(stages[0]))

uint64_t core_client_memory(const struct client *c)
{
	return c->memory;
}

/* One at a time: a client in whose domain another has queues must not end before that one. */
static void begin_end(struct client *c)
{
	struct client *other = c->dev->leaving;

	if (other && other != c)
		core_client_destroy(other);
	c->dev->leaving = c;
	make_visible(c->dev, BEFORE_CLIENT_END, NULL);
}

bool core_client_leave(struct client *c, uint32_t steps)
{
	struct client_end *at = &c->end;

	begin_end(c);
	while (at->stage < STAGES) {
		if (!stages[at->stage](c, &steps))
			return false;
		*at = (struct client_end){.stage = at->stage + 1};
	}
	c->dev->leaving = NULL;
	list_remove(&c->link);
	free(c->doorbell);
	free(c);
	return true;
}

void core_client_destroy(struct client *c)
{
	while (c && !core_client_leave(c, UINT32_MAX))
		;
}
