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

/* As rules name it; NULL: not known to them. */
static const char *const command_name[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = "rdma_create_id",
	[RDMA_USER_CM_CMD_DESTROY_ID] = "rdma_destroy_id",
	[RDMA_USER_CM_CMD_BIND_IP] = "rdma_bind_addr",
	[RDMA_USER_CM_CMD_RESOLVE_IP] = "rdma_resolve_addr",
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = "rdma_resolve_route",
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = "rdma_query",
	[RDMA_USER_CM_CMD_CONNECT] = "rdma_connect",
	[RDMA_USER_CM_CMD_LISTEN] = "rdma_listen",
	[RDMA_USER_CM_CMD_ACCEPT] = "rdma_accept",
	[RDMA_USER_CM_CMD_REJECT] = "rdma_reject",
	[RDMA_USER_CM_CMD_DISCONNECT] = "rdma_disconnect",
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = "rdma_init_qp_attr",
	[RDMA_USER_CM_CMD_GET_EVENT] = "rdma_get_event",
	[RDMA_USER_CM_CMD_SET_OPTION] = "rdma_set_option",
	[RDMA_USER_CM_CMD_NOTIFY] = "rdma_notify",
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = "rdma_join_mcast",
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = "rdma_leave_mcast",
	[RDMA_USER_CM_CMD_MIGRATE_ID] = "rdma_migrate_id",
	[RDMA_USER_CM_CMD_QUERY] = "rdma_query",
	[RDMA_USER_CM_CMD_BIND] = "rdma_bind_addr",
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = "rdma_resolve_addr",
	[RDMA_USER_CM_CMD_JOIN_MCAST] = "rdma_join_mcast",
	[UCMA_WRITE_CM_EVENT] = "rdma_write_cm_event",
};

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
	const struct io_client *c;
	struct io_device *dev;
	struct fault_subject s;

	if (!io_faults_watch(env->faults, FAULT_LAYER_CALL) || !f->cookie || env->devices->n == 0 ||
	    cmd >= sizeof(command_name) / sizeof(command_name[0]) || !command_name[cmd])
		return (struct io_call_fault){0};
	c = client_of(f); /* looks at all of them */
	dev = c ? c->dev : env->devices->at[0];
	io_fault_subject(&s, FAULT_LAYER_CALL, dev, c);
	s.call = command_name[cmd];
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
