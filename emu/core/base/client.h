/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One opened context of one process. Owns every object the process made; a handle of another
 * client is as invalid as one that never was.
 */
#ifndef CORE_CLIENT_H
#define CORE_CLIENT_H

#include "device.h"
#include "emu/core/contract/leave.h"
#include "object_type.h"

/* Those who share what is shared between processes: see group.h. */
struct group {
	uint32_t members;
};

/* How far the end of a client has come (core_client_leave). */
struct client_end {
	uint32_t stage;
	uint32_t type; /* where in the stage: of objects, */
	uint32_t slot; /* and in their table */
};

/* Takes "cost" from what is left of a part's steps. */
static inline void steps_take(uint32_t *steps, uint32_t cost)
{
	*steps -= cost < *steps ? cost : *steps;
}

struct client {
	struct device *dev;
	void *cookie; /* what the injected operations get */
	struct list link;
	struct group *group; /* NULL: shares nothing */
	/* Memory of the process that is mapped here, too; NULL: none. The shell's. */
	const struct core_arena *arena;
	/* Doorbell numbers of this client; the smallest free one is given out. */
	struct qp **doorbell;
	uint32_t n_doorbells;
	uint32_t free_doorbell;     /* no number below it is free */
	struct list copies_on_poll; /* struct copy_on_poll_ring.of_client, copy_on_poll.h */
	uint32_t n_copies_on_poll;
	struct client_end end;
	uint64_t memory; /* bytes: page arrays and lists of what it owns (limits.client_memory) */
};

/* May it have so many bytes more? */
static inline bool client_has_room(const struct client *c, uint64_t bytes)
{
	uint64_t most = c->dev->cfg.limits.client_memory;

	return c->memory <= most && bytes <= most - c->memory;
}

/* Does what "owner" made belong to c, too? */
static inline bool group_shares(const struct client *c, const struct client *owner)
{
	return c == owner || (c->group && c->group == owner->group);
}

/*
 * What all objects begin with: who owns it, its handle, and how many others use it (destroy
 * answers -EBUSY while they do).
 */
struct object {
	struct client *client;
	uint32_t handle;
	uint32_t refs;
	uint32_t kind; /* enum key_kind of what has a memory key, else 0 */
};

/* The client's own object of this handle: 0, or -ENOENT when it is stale or another client's. */
int client_find(struct client *c, const struct table *t, uint32_t handle, void *object_out);

/* The same for what a group shares (group.h): also the object of another member of c's group. */
int client_find_shared(struct client *c, const struct table *t, uint32_t handle, void *object_out);

/*
 * The verb that destroys an object: "before" (NULL: nothing) and then its type's destroy. 0,
 * -ENOENT as of the former two, or -EBUSY while others use it.
 */
int client_destroy(struct client *c, const struct object_type *type, uint32_t handle,
		   void (*before)(void *object));

#endif
