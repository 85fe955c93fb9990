/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See cmd_server.h. What comes in is a copy, so nothing changes under a check. A message whose
 * size, descriptors or reserved fields are not those of its command is answered with -EINVAL, an
 * unknown command with -EOPNOTSUPP; nothing else happens then.
 */
#include "cmd_server.h"

#include "clock.h"
#include "daemon.h"
#include "log.h"

#include <errno.h>
#include <string.h>

/* The longest reply, and what travels with it. */
struct reply {
	union {
		struct uhca_cmd_reply h;
		struct uhca_cmd_hello_reply hello;
		struct uhca_cmd_handle_reply handle;
		struct uhca_cmd_device_attr device;
		struct uhca_cmd_port_attr port;
		struct uhca_cmd_gid_reply gid;
		struct uhca_cmd_reg_mr_reply reg_mr;
		struct uhca_cmd_create_cq_reply create_cq;
		struct uhca_cmd_create_qp_reply create_qp;
		struct uhca_cmd_query_qp_reply query_qp;
		struct uhca_cmd_create_srq_reply create_srq;
		struct uhca_cmd_query_srq_reply query_srq;
	};
	int fd[UHCA_ABI_MAX_FDS];
	unsigned n_fds;
	struct io_shm *ring; /* its descriptor goes with the reply and is not needed afterwards */
};

struct request {
	struct io_client *client;
	const void *msg;
	struct io_fds *fds;
};

static void reply_ring(struct reply *rep, const struct core_ring *ring)
{
	rep->ring = ring->token;
	rep->fd[0] = rep->ring->fd;
	rep->n_fds = 1;
}

/* ---- handlers: 0 or -errno ---- */

static int hello(struct request *r, struct reply *rep)
{
	const struct uhca_cmd_hello *in = r->msg;
	struct io_client *c = r->client;
	struct io_client_hello h = {.program = in->program};
	int error;

	if (c->core || in->magic != UHCA_ABI_MAGIC || in->reserved != 0)
		return -EINVAL;
	if (in->version != UHCA_ABI_VERSION)
		return -EPROTO;
	h.dev = io_daemon_find_device(c->daemon, in->device, sizeof(in->device));
	if (!h.dev)
		return -ENODEV;
	h.mem_fd = io_fds_take(r->fds, 0);
	h.async_fd = io_fds_take(r->fds, 1);
	error = io_client_hello(c, &h);
	if (error < 0)
		return error;
	rep->hello.client = c->id;
	rep->hello.gather_limit = c->dev->config.gather_limit;
	rep->fd[0] = c->daemon->status.fd;
	rep->fd[1] = c->doorbell.fd;
	rep->fd[2] = c->event_fd;
	rep->n_fds = 3;
	io_log(IO_LOG_INFO, "client %u: %s, process %d of user %u, opened %s, memory by %s", c->id,
	       c->program, (int)c->peer.pid, (unsigned)c->peer.uid, c->dev->id.name,
	       io_mem_how(&c->mem));
	return 0;
}

/* Commands that name one object, or none, and nothing else. */
static int only_handle(const struct request *r, uint32_t *handle)
{
	const struct uhca_cmd_handle *in = r->msg;

	*handle = in->handle;
	return in->index == 0 ? 0 : -EINVAL;
}

static int query_device(struct request *r, struct reply *rep)
{
	uint32_t handle;

	if (only_handle(r, &handle) < 0 || handle != 0)
		return -EINVAL;
	return core_query_device(r->client->core, &rep->device);
}

static int query_port(struct request *r, struct reply *rep)
{
	uint32_t port;

	if (only_handle(r, &port) < 0)
		return -EINVAL;
	return core_query_port(r->client->core, port, &rep->port);
}

static int query_gid(struct request *r, struct reply *rep)
{
	const struct uhca_cmd_handle *in = r->msg;

	return core_query_gid(r->client->core, in->index, rep->gid.gid);
}

static int alloc_pd(struct request *r, struct reply *rep)
{
	uint32_t handle;

	if (only_handle(r, &handle) < 0 || handle != 0)
		return -EINVAL;
	return core_alloc_pd(r->client->core, &rep->handle.handle);
}

static int reg_mr(struct request *r, struct reply *rep)
{
	return core_reg_mr(r->client->core, r->msg, &rep->reg_mr);
}

static int create_channel(struct request *r, struct reply *rep)
{
	uint32_t handle;
	int fd;
	int error;

	if (only_handle(r, &handle) < 0 || handle != 0)
		return -EINVAL;
	fd = io_fds_take(r->fds, 0);
	error = io_channel_table_add(&r->client->channels, fd, &rep->handle.handle);
	if (error < 0)
		r->fds->fd[0] = fd;
	return error;
}

static int create_cq(struct request *r, struct reply *rep)
{
	const struct uhca_cmd_create_cq *in = r->msg;
	struct io_client *c = r->client;
	struct core_ring ring;
	int error;

	if (in->channel != 0 && !io_channel_table_get(&c->channels, in->channel))
		return -ENOENT;
	error = core_create_cq(c->core, in, &rep->create_cq, &ring);
	if (error == 0)
		reply_ring(rep, &ring);
	return error;
}

static int create_qp(struct request *r, struct reply *rep)
{
	struct io_client *c = r->client;
	struct core_ring ring;
	uint32_t summaries;
	int error = core_create_qp(c->core, r->msg, &rep->create_qp, &ring);

	if (error < 0)
		return error;
	reply_ring(rep, &ring);
	summaries = io_doorbell_summaries(rep->create_qp.doorbell + 1);
	if (summaries > c->summaries)
		c->summaries = summaries;
	return 0;
}

static bool reserved_ah(const struct uhca_abi_ah_attr *a)
{
	return a->reserved != 0;
}

static int modify_qp(struct request *r, struct reply *rep)
{
	const struct uhca_cmd_modify_qp *in = r->msg;

	(void)rep;
	if (in->attr.reserved0 || in->attr.reserved1 || reserved_ah(&in->attr.ah) ||
	    reserved_ah(&in->attr.alt_ah))
		return -EINVAL;
	return core_modify_qp(r->client->core, in, io_clock_now());
}

static int query_qp(struct request *r, struct reply *rep)
{
	uint32_t handle;

	if (only_handle(r, &handle) < 0)
		return -EINVAL;
	return core_query_qp(r->client->core, handle, &rep->query_qp);
}

static int create_srq(struct request *r, struct reply *rep)
{
	const struct uhca_cmd_create_srq *in = r->msg;
	struct core_ring ring;
	int error;

	if (in->reserved != 0)
		return -EINVAL;
	error = core_create_srq(r->client->core, in, &rep->create_srq, &ring);
	if (error == 0)
		reply_ring(rep, &ring);
	return error;
}

static int modify_srq(struct request *r, struct reply *rep)
{
	(void)rep;
	return core_modify_srq(r->client->core, r->msg);
}

static int query_srq(struct request *r, struct reply *rep)
{
	uint32_t handle;

	if (only_handle(r, &handle) < 0)
		return -EINVAL;
	return core_query_srq(r->client->core, handle, &rep->query_srq);
}

static int create_ah(struct request *r, struct reply *rep)
{
	const struct uhca_cmd_create_ah *in = r->msg;

	if (in->reserved != 0 || reserved_ah(&in->attr))
		return -EINVAL;
	return core_create_ah(r->client->core, in, &rep->handle.handle);
}

static int destroy_channel(struct request *r, struct reply *rep)
{
	uint32_t handle;

	(void)rep;
	if (only_handle(r, &handle) < 0)
		return -EINVAL;
	return io_channel_table_remove(&r->client->channels, handle);
}

/* The verbs that end an object's life differ in name only. */
#define DESTROY_(name, verb)                                                                       \
	static int name(struct request *r, struct reply *rep)                                      \
	{                                                                                          \
		uint32_t handle;                                                                   \
                                                                                                   \
		(void)rep;                                                                         \
		if (only_handle(r, &handle) < 0)                                                   \
			return -EINVAL;                                                            \
		return verb(r->client->core, handle);                                              \
	}
DESTROY_(dealloc_pd, core_dealloc_pd)
DESTROY_(dereg_mr, core_dereg_mr)
DESTROY_(destroy_cq, core_destroy_cq)
DESTROY_(destroy_qp, core_destroy_qp)
DESTROY_(destroy_srq, core_destroy_srq)
DESTROY_(destroy_ah, core_destroy_ah)

/* ---- the table ---- */

#define HANDLE_      sizeof(struct uhca_cmd_handle)
#define HEADER_      sizeof(struct uhca_cmd_reply)
#define IN_(name)    sizeof(struct uhca_cmd_##name)
#define REPLY_(name) sizeof(struct uhca_cmd_##name)

static const struct command {
	const char *name;
	size_t size; /* of the request; 0: there is no such command */
	unsigned n_fds;
	size_t reply; /* size of the reply when all went well */
	int (*handle)(struct request *r, struct reply *rep);
} commands[UHCA_CMD_COUNT] = {
	[UHCA_CMD_HELLO] = {"hello", IN_(hello), 2, REPLY_(hello_reply), hello},
	[UHCA_CMD_QUERY_DEVICE] = {"query_device", HANDLE_, 0, REPLY_(device_attr), query_device},
	[UHCA_CMD_QUERY_PORT] = {"query_port", HANDLE_, 0, REPLY_(port_attr), query_port},
	[UHCA_CMD_QUERY_GID] = {"query_gid", HANDLE_, 0, REPLY_(gid_reply), query_gid},
	[UHCA_CMD_ALLOC_PD] = {"alloc_pd", HANDLE_, 0, REPLY_(handle_reply), alloc_pd},
	[UHCA_CMD_DEALLOC_PD] = {"dealloc_pd", HANDLE_, 0, HEADER_, dealloc_pd},
	[UHCA_CMD_REG_MR] = {"reg_mr", IN_(reg_mr), 0, REPLY_(reg_mr_reply), reg_mr},
	[UHCA_CMD_DEREG_MR] = {"dereg_mr", HANDLE_, 0, HEADER_, dereg_mr},
	[UHCA_CMD_CREATE_CHANNEL] = {"create_channel", HANDLE_, 1, REPLY_(handle_reply),
				     create_channel},
	[UHCA_CMD_DESTROY_CHANNEL] = {"destroy_channel", HANDLE_, 0, HEADER_, destroy_channel},
	[UHCA_CMD_CREATE_CQ] = {"create_cq", IN_(create_cq), 0, REPLY_(create_cq_reply), create_cq},
	[UHCA_CMD_DESTROY_CQ] = {"destroy_cq", HANDLE_, 0, HEADER_, destroy_cq},
	[UHCA_CMD_CREATE_QP] = {"create_qp", IN_(create_qp), 0, REPLY_(create_qp_reply), create_qp},
	[UHCA_CMD_MODIFY_QP] = {"modify_qp", IN_(modify_qp), 0, HEADER_, modify_qp},
	[UHCA_CMD_QUERY_QP] = {"query_qp", HANDLE_, 0, REPLY_(query_qp_reply), query_qp},
	[UHCA_CMD_DESTROY_QP] = {"destroy_qp", HANDLE_, 0, HEADER_, destroy_qp},
	[UHCA_CMD_CREATE_SRQ] = {"create_srq", IN_(create_srq), 0, REPLY_(create_srq_reply),
				 create_srq},
	[UHCA_CMD_MODIFY_SRQ] = {"modify_srq", IN_(modify_srq), 0, HEADER_, modify_srq},
	[UHCA_CMD_QUERY_SRQ] = {"query_srq", HANDLE_, 0, REPLY_(query_srq_reply), query_srq},
	[UHCA_CMD_DESTROY_SRQ] = {"destroy_srq", HANDLE_, 0, HEADER_, destroy_srq},
	[UHCA_CMD_CREATE_AH] = {"create_ah", IN_(create_ah), 0, REPLY_(handle_reply), create_ah},
	[UHCA_CMD_DESTROY_AH] = {"destroy_ah", HANDLE_, 0, HEADER_, destroy_ah},
};

/* ---- dispatch ---- */

static const struct command *find_command(uint32_t cmd)
{
	return cmd < UHCA_CMD_COUNT && commands[cmd].size > 0 ? &commands[cmd] : NULL;
}

/* A context comes to be with HELLO; nothing else is served before. */
static int execute(const struct command *command, struct request *r, struct reply *rep)
{
	int status;

	if (!r->client->core && command->handle != hello)
		return -EINVAL;
	status = command->handle(r, rep);
	if (r->client->dev)
		r->client->dev->dirty = true;
	return status;
}

static int send_reply(struct io_client *c, const struct uhca_cmd_request *h, struct reply *rep,
		      int status)
{
	const struct command *command = find_command(h->cmd);
	size_t size = status == 0 ? command->reply : HEADER_;
	int error;

	rep->h = (struct uhca_cmd_reply){h->cmd, (uint32_t)size, h->sequence, status};
	if (status < 0)
		io_log(IO_LOG_DEBUG, "client %u: %s (%u): %s", c->id,
		       command ? command->name : "unknown command", h->cmd, strerror(-status));
	error = io_message_send(c->sock, rep, size, rep->fd, status == 0 ? rep->n_fds : 0);
	if (rep->ring)
		io_shm_drop_fd(rep->ring);
	return error == -EAGAIN ? -ENOBUFS : error;
}

int io_cmd_handle(struct io_client *c, const void *msg, size_t len, struct io_fds *fds, bool whole)
{
	struct request r = {c, msg, fds};
	struct reply rep;
	struct uhca_cmd_request h;
	const struct command *command;
	int status;

	if (len < sizeof(h))
		return -EPROTO;
	memcpy(&h, msg, sizeof(h));
	memset(&rep, 0, sizeof(rep));
	command = find_command(h.cmd);
	if (!command)
		status = -EOPNOTSUPP;
	else if (!whole || h.size != len || len != command->size || fds->n != command->n_fds ||
		 h.reserved != 0)
		status = -EINVAL;
	else
		status = execute(command, &r, &rep);
	return send_reply(c, &h, &rep, status);
}

int io_cmd_receive(struct io_client *c)
{
	/* Aligned for the structures that handlers read in it. */
	_Alignas(8) uint8_t msg[UHCA_ABI_MAX_MESSAGE];
	struct io_fds fds;
	bool whole;
	ssize_t n = io_message_receive(c->sock, msg, sizeof(msg), &fds, &whole);
	int error;

	/* An empty message looks like the end of the connection, but may bring descriptors. */
	if (n <= 0) {
		io_fds_close(&fds);
		return n == 0 ? -ECONNRESET : (int)n;
	}
	if ((size_t)n > sizeof(msg))
		n = sizeof(msg);
	error = io_cmd_handle(c, msg, (size_t)n, &fds, whole);
	io_fds_close(&fds);
	return error;
}
