/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fault rules about the rdma_cm device: commands that fail or wait, and the end of a device under
 * its ids.
 */
#include "emu/io/fault/fault.h"
#include "emu/io/serve/serve.h"
#include "ucma_file.h"

#include <errno.h>
#include <string.h>

#define DEVICE_REMOVAL 11 /* enum rdma_cm_event_type */

/* The program's context on some device, by its process: it may have none yet. */
static const struct io_client *client_of(const struct ucma_file *f)
{
	const struct io_clients *all = f->ucma->env.clients;

	for (unsigned i = 0; i < all->n; i++)
		if (all->at[i]->core && all->at[i]->peer.pid == f->owner->pid)
			return all->at[i];
	return NULL;
}

struct io_call_fault ucma_fault(struct ucma_file *f, uint32_t cmd)
{
	const struct io_ucma_env *env = &f->ucma->env;
	const char *call = ucma_rule_name(cmd);
	const struct io_client *c;
	struct io_device *dev;
	struct fault_subject s;

	if (!io_faults_watch(env->faults, FAULT_LAYER_CALL) || !f->cookie || env->devices->n == 0 ||
	    !call || !*call)
		return (struct io_call_fault){0};
	c = client_of(f); /* looks at all of them */
	dev = c ? c->dev : env->devices->at[0];
	io_fault_subject(&s, FAULT_LAYER_CALL, dev, c);
	s.call = call;
	return io_fault_call(env->faults, dev, &s);
}

/* What the kernel finds out only after the call has returned, it tells by an event. */
bool ucma_fault_comes_later(uint32_t cmd, int error)
{
	bool resolves = cmd == RDMA_USER_CM_CMD_RESOLVE_IP ||
			cmd == RDMA_USER_CM_CMD_RESOLVE_ADDR ||
			cmd == RDMA_USER_CM_CMD_RESOLVE_ROUTE;

	return resolves && (error == ETIMEDOUT || error == EHOSTUNREACH || error == ENODEV);
}

/* Each id of the device hears of it once; then it can be ended, and nothing else. */
void io_ucma_remove_device(struct io_ucma *u, const struct io_device *dev)
{
	struct ucma_file *f;
	struct ucma_id *id;

	TAILQ_FOREACH(f, &u->files, link)
	{
		LIST_FOREACH(id, &f->ids, of_file)
		{
			if (id->dev != dev || !id->uid || id->state == UCMA_REMOVED)
				continue;
			id->state = UCMA_REMOVED;
			ucma_event_simple(id, DEVICE_REMOVAL, 0);
			ucma_event_release(id); /* the device looks at nothing more */
		}
	}
}
