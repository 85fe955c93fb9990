/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accounts of the processes that have the rdma_cm device open. A process is told from others by the
 * pid of the connection (SO_PEERCRED): one that gets the pid of another while things of that one
 * are still there shares an account with it, and nothing else.
 */
#include "ucma_file.h"

#include <stdlib.h>

static struct ucma_owner_list *bucket_of(struct io_ucma *u, pid_t pid)
{
	return &u->owners[(unsigned)pid % UCMA_OWNER_BUCKETS];
}

static struct ucma_owner *make(struct io_ucma *u, pid_t pid)
{
	struct ucma_owner *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->ucma = u;
	o->pid = pid;
	LIST_INSERT_HEAD(bucket_of(u, pid), o, link);
	return o;
}

struct ucma_owner *ucma_owner_get(struct io_ucma *u, pid_t pid)
{
	struct ucma_owner *o;

	LIST_FOREACH(o, bucket_of(u, pid), link)
	{
		if (o->pid == pid)
			break;
	}
	if (!o)
		o = make(u, pid);
	if (o)
		o->refs++;
	return o;
}

void ucma_owner_put(struct ucma_owner *o)
{
	if (--o->refs)
		return;
	LIST_REMOVE(o, link);
	free(o);
}

bool ucma_owner_has_room(const struct ucma_owner *o, uint64_t bytes)
{
	const struct io_devices *all = o->ucma->env.devices;
	uint64_t most = all->n ? all->at[0]->config.limits.client_memory : 0;

	return o->memory <= most && bytes <= most - o->memory;
}
