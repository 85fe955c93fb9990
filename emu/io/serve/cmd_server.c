/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See cmd_server.h. What comes in is a copy, so nothing changes under a check. A message whose
 * size, descriptors or reserved fields are not those of its command is answered with -EINVAL, an
 * unknown command with -EOPNOTSUPP; nothing else happens then.
 */
#include "cmd_server.h"

#include "clients.h"
#include "cmd_handler.h"
#include "drain_doorbells.h"
#include "emu/io/base/base.h"
#include "owed_reply.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define HEADER_      sizeof(struct uhca_cmd_reply)
#define IN_(name)    sizeof(struct uhca_cmd_##name)
#define REPLY_(name) sizeof(struct uhca_cmd_##name)
#define RESERVED_(name)                                                                            \
	.reserved = offsetof(struct uhca_cmd_##name, reserved),                                    \
	.reserved_bytes = sizeof(((struct uhca_cmd_##name *)0)->reserved)
/* Commands that name an object, or nothing: size, reply, and what is zero. */
#define HANDLE_(reply_)                                                                            \
	IN_(handle), reply_, .reserved = offsetof(struct uhca_cmd_handle, index),                  \
			     .reserved_bytes = sizeof(uint32_t)
#define NOTHING_(reply_)                                                                           \
	IN_(handle), reply_, .reserved = offsetof(struct uhca_cmd_handle, handle),                 \
			     .reserved_bytes = 2 * sizeof(uint32_t)
#define ROW_(cmd, verb, ...) [UHCA_CMD_##cmd] = {#verb, cmd_##verb, __VA_ARGS__}

static const struct command {
	const char *name;
	cmd_handler *handle;
	size_t size;  /* of the request; 0: there is no such command */
	size_t reply; /* size of the reply when all went well */
	unsigned n_fds;
	unsigned more_fds;               /* that there may be */
	size_t reserved, reserved_bytes; /* where the request is zero, and how long */
	/*
	 * It changes what was rung before means, or what becomes of it: that is served first. How
	 * many completions a CQ holds decides whether it can shrink, so this is true of it, too.
	 */
	bool catches_up;
	bool own;           /* of the library, and no program's call: its end is nobody's news */
	const char *object; /* what the handle behind the header names; NULL: none stands there */
} commands[UHCA_CMD_COUNT] = {
	[UHCA_CMD_HELLO] = {"open_device", cmd_hello, IN_(hello), REPLY_(hello_reply), .n_fds = 2},
	ROW_(QUERY_DEVICE, query_device, NOTHING_(REPLY_(device_attr))),
	ROW_(QUERY_PORT, query_port, HANDLE_(REPLY_(port_attr))),
	ROW_(QUERY_GID, query_gid, IN_(handle), REPLY_(gid_reply)),
	ROW_(ALLOC_PD, alloc_pd, NOTHING_(REPLY_(handle_reply))),
	ROW_(DEALLOC_PD, dealloc_pd, HANDLE_(HEADER_), .object = "PD"),
	ROW_(REG_MR, reg_mr, IN_(reg_mr), REPLY_(reg_mr_reply)),
	ROW_(DEREG_MR, dereg_mr, HANDLE_(HEADER_), .catches_up = true, .object = "MR"),
	ROW_(CREATE_CHANNEL, create_channel, NOTHING_(REPLY_(handle_reply)), .n_fds = 1),
	ROW_(DESTROY_CHANNEL, destroy_channel, HANDLE_(HEADER_), .object = "completion channel",
	     .own = true),
	ROW_(CREATE_CQ, create_cq, IN_(create_cq), REPLY_(create_cq_reply)),
	ROW_(DESTROY_CQ, destroy_cq, HANDLE_(HEADER_), .object = "CQ"),
	ROW_(CREATE_QP, create_qp, IN_(create_qp), REPLY_(create_qp_reply), .more_fds = 1),
	ROW_(MODIFY_QP, modify_qp, IN_(modify_qp), HEADER_, .catches_up = true, .object = "QP"),
	ROW_(QUERY_QP, query_qp, HANDLE_(REPLY_(query_qp_reply)), .object = "QP"),
	ROW_(DESTROY_QP, destroy_qp, HANDLE_(HEADER_), .catches_up = true, .object = "QP"),
	ROW_(CREATE_SRQ, create_srq, IN_(create_srq), REPLY_(create_srq_reply),
	     RESERVED_(create_srq)),
	ROW_(MODIFY_SRQ, modify_srq, IN_(modify_srq), HEADER_, .catches_up = true, .object = "SRQ"),
	/* To those who write rules it is what the program called. */
	[UHCA_CMD_RESIZE_SRQ] = {"modify_srq", cmd_resize_srq, IN_(modify_srq),
				 REPLY_(create_srq_reply), .catches_up = true, .object = "SRQ"},
	ROW_(QUERY_SRQ, query_srq, HANDLE_(REPLY_(query_srq_reply)), .object = "SRQ"),
	ROW_(DESTROY_SRQ, destroy_srq, HANDLE_(HEADER_), .catches_up = true, .object = "SRQ"),
	ROW_(CREATE_AH, create_ah, IN_(create_ah), REPLY_(handle_reply), RESERVED_(create_ah)),
	ROW_(DESTROY_AH, destroy_ah, HANDLE_(HEADER_), .catches_up = true, .object = "AH"),
	ROW_(ATTACH_MCAST, attach_mcast, IN_(mcast), HEADER_, .catches_up = true, .object = "QP",
	     RESERVED_(mcast)),
	ROW_(DETACH_MCAST, detach_mcast, IN_(mcast), HEADER_, .catches_up = true, .object = "QP",
	     RESERVED_(mcast)),
	ROW_(ALLOC_MW, alloc_mw, IN_(alloc_mw), REPLY_(alloc_mw_reply)),
	ROW_(DEALLOC_MW, dealloc_mw, HANDLE_(HEADER_), .catches_up = true, .object = "window"),
	ROW_(REREG_MR, rereg_mr, IN_(rereg_mr), REPLY_(reg_mr_reply), .catches_up = true,
	     .object = "MR"),
	ROW_(ALLOC_NULL_MR, alloc_null_mr, HANDLE_(REPLY_(reg_mr_reply))),
	ROW_(ADVISE_MR, advise_mr, IN_(advise_mr), HEADER_),
	ROW_(ALLOC_DM, alloc_dm, IN_(alloc_dm), REPLY_(alloc_dm_reply)),
	ROW_(FREE_DM, free_dm, HANDLE_(HEADER_), .catches_up = true, .object = "device memory"),
	ROW_(REG_DM_MR, reg_dm_mr, IN_(reg_dm_mr), REPLY_(reg_mr_reply), RESERVED_(reg_dm_mr)),
	ROW_(OPEN_XRCD, open_xrcd, IN_(open_xrcd), REPLY_(handle_reply), .n_fds = 1),
	ROW_(CLOSE_XRCD, close_xrcd, HANDLE_(HEADER_), .catches_up = true, .object = "XRC domain"),
	ROW_(OPEN_QP, open_qp, IN_(open_qp), REPLY_(open_qp_reply), RESERVED_(open_qp)),
	ROW_(RESIZE_CQ, resize_cq, IN_(resize_cq), REPLY_(create_cq_reply), .catches_up = true,
	     .object = "CQ"),
	ROW_(EXPORT, export, NOTHING_(REPLY_(export_reply))),
	ROW_(IMPORT, import, IN_(import), REPLY_(import_reply)),
	ROW_(MODIFY_CQ, modify_cq, IN_(modify_cq), HEADER_, .object = "CQ"),
	ROW_(NOTIFY_CQ, notify_cq, HANDLE_(HEADER_), .object = "CQ", .own = true),
	ROW_(CREATE_WQ, create_wq, IN_(create_wq), REPLY_(create_srq_reply)),
	ROW_(MODIFY_WQ, modify_wq, IN_(modify_wq), HEADER_, .catches_up = true,
	     .object = "work queue"),
	ROW_(DESTROY_WQ, destroy_wq, HANDLE_(HEADER_), .catches_up = true, .object = "work queue"),
	ROW_(CREATE_RWQ_IND_TABLE, create_rwq_ind_table, IN_(create_rwq_ind_table),
	     REPLY_(handle_reply)),
	ROW_(DESTROY_RWQ_IND_TABLE, destroy_rwq_ind_table, HANDLE_(HEADER_),
	     .object = "indirection table"),
	ROW_(CREATE_FLOW, create_flow, IN_(create_flow), REPLY_(handle_reply), .catches_up = true,
	     .object = "QP"),
	ROW_(DESTROY_FLOW, destroy_flow, HANDLE_(HEADER_), .catches_up = true,
	     .object = "flow rule"),
	ROW_(ALLOC_KEY, alloc_key, IN_(alloc_key), REPLY_(reg_mr_reply)),
	ROW_(DESCRIBE_KEY, describe_key, IN_(describe_key), HEADER_, .catches_up = true),
	ROW_(REG_SHARED_MR, reg_shared_mr, IN_(reg_shared_mr), REPLY_(reg_mr_reply),
	     RESERVED_(reg_shared_mr)),
	ROW_(FAULT_CHECK, fault_check, IN_(fault_check), REPLY_(fault_check_reply), .own = true,
	     RESERVED_(fault_check)),
	ROW_(REFUSED, refused, IN_(refused), HEADER_, .own = true, RESERVED_(refused)),
	ROW_(ATTACH_ARENA, attach_arena, IN_(attach_arena), HEADER_, .n_fds = 1, .own = true),
	ROW_(QUERY_PEER, query_peer, IN_(query_peer), REPLY_(query_peer_reply), .own = true),
	ROW_(CREATE_COMP_CNTR, create_comp_cntr, IN_(create_comp_cntr),
	     REPLY_(create_comp_cntr_reply), RESERVED_(create_comp_cntr)),
	ROW_(DESTROY_COMP_CNTR, destroy_comp_cntr, HANDLE_(HEADER_), .catches_up = true,
	     .object = "completion counter"),
	ROW_(SET_COMP_CNTR, set_comp_cntr, IN_(modify_comp_cntr), HEADER_, .catches_up = true,
	     .object = "completion counter"),
	ROW_(INC_COMP_CNTR, inc_comp_cntr, IN_(modify_comp_cntr), HEADER_, .catches_up = true,
	     .object = "completion counter"),
	[UHCA_CMD_ATTACH_COMP_CNTR] = {"qp_attach_comp_cntr", cmd_attach_comp_cntr,
				       IN_(attach_comp_cntr), HEADER_, .object = "QP",
				       RESERVED_(attach_comp_cntr)},
	/* To those who write rules it is what the program called. */
	[UHCA_CMD_REG_PINNED_MR] = {"reg_mr", cmd_reg_pinned_mr, IN_(reg_pinned_mr),
				    REPLY_(reg_mr_reply)},
};

/* ---- dispatch ---- */

static const struct command *find_command(uint32_t cmd)
{
	return cmd < UHCA_CMD_COUNT && commands[cmd].size > 0 ? &commands[cmd] : NULL;
}

static bool reserved_is_set(const struct command *command, const void *msg)
{
	uint64_t reserved = 0;

	memcpy(&reserved, (const uint8_t *)msg + command->reserved, command->reserved_bytes);
	return reserved;
}

/* A context comes to be with HELLO; nothing else is served before. */
static int execute(const struct command *command, struct cmd *r, struct cmd_reply *rep)
{
	int status;

	if (!r->client->core && command->handle != cmd_hello)
		return io_refuse(-EINVAL, "the context has not sent HELLO");
	/* A call of which rules say that it fails; one that only asks is answered instead. */
	if (r->fault->error && command->handle != cmd_fault_check)
		return io_refuse(-r->fault->error, "a fault rule makes it fail");
	if (r->client->core)
		core_forget_refusal(r->client->dev->core);
	if (command->catches_up)
		io_drain_doorbells(r->client);
	status = reserved_is_set(command, r->msg) ? -EINVAL : command->handle(r, rep);
	if (r->client->dev)
		r->client->dev->dirty = true;
	return status;
}

/* "QP 0x000011", "CQ handle 0x8000001"; "" where the message names no object. */
static const char *object_of(const struct io_client *c, const struct command *command,
			     const struct uhca_cmd_handle *in, char *text, size_t room)
{
	bool is_qp = command && command->object && strcmp(command->object, "QP") == 0;
	uint32_t qpn = is_qp && c->core ? core_qp_number(c->core, in->handle) : 0;

	if (!command || !command->object || in->h.size < sizeof(*in))
		return "";
	if (qpn)
		snprintf(text, room, "QP 0x%06x", qpn);
	else
		snprintf(text, room, "%s handle 0x%x", command->object, in->handle);
	return text;
}

/* Who asked is told why, and so is the log. Returns the bytes of the reply. */
static size_t refuse(const struct io_client *c, const struct command *command, const void *msg,
		     struct cmd_reply *rep, int status)
{
	const struct uhca_cmd_request *h = msg;
	char object[64], unknown[32];
	struct io_refusal r = {.program = c->program,
			       .pid = (int)c->peer.pid,
			       .verb = command ? command->name : unknown,
			       .object = object_of(c, command, msg, object, sizeof(object)),
			       .error = status,
			       .quiet = command && command->own,
			       .reason = c->core ? core_refusal(c->dev->core) : ""};

	snprintf(unknown, sizeof(unknown), "command %u", h->cmd);
	return HEADER_ + io_refusal_format(&r, rep->refusal.why);
}

static int send_reply(struct io_client *c, const void *msg, struct cmd_reply *rep, int status)
{
	const struct uhca_cmd_request *h = msg;
	const struct command *command = find_command(h->cmd);
	size_t size = status == 0 ? command->reply : refuse(c, command, msg, rep, status);
	int error;

	rep->h = (struct uhca_cmd_reply){h->cmd, (uint32_t)size, h->sequence, status};
	error = io_reply_send(c, rep, size, rep->fd, status == 0 ? rep->n_fds : 0);
	if (rep->ring)
		io_shm_drop_fd(rep->ring);
	return error == -EAGAIN ? -ENOBUFS : error;
}

static int check(const struct command *command, const struct uhca_cmd_request *h, size_t len,
		 const struct io_fds *fds)
{
	if (!command)
		return -EOPNOTSUPP;
	return h->size != len || len != command->size || fds->n < command->n_fds ||
			       fds->n > command->n_fds + command->more_fds || h->reserved
		       ? -EINVAL
		       : 0;
}

static int answer(struct io_client *c, const void *msg, struct io_fds *fds,
		  const struct io_call_fault *fault)
{
	const struct uhca_cmd_request *h = msg;
	struct cmd r = {c, msg, fds, fault};
	struct cmd_reply rep;
	int status;

	memset(&rep, 0, sizeof(rep));
	io_refusal_forget();
	status = execute(find_command(h->cmd), &r, &rep);
	status = send_reply(c, msg, &rep, status);
	io_loop_pass_did(find_command(h->cmd)->name);
	return status;
}

/* ---- calls that wait ---- */

static void resume(void *owner, struct io_slow_call *call)
{
	struct io_client *c = owner;

	if (answer(c, call->msg, &call->fds, &call->fault) < 0)
		io_clients_remove(c->all, c);
	else
		io_client_listen(c);
}

static int keep(struct io_client *c, const struct io_call_fault *fault, const void *msg, size_t len,
		struct io_fds *fds)
{
	const struct io_slow_owner owner = {
		.loop = c->all->loop, .list = &c->slow, .resume = resume, .owner = c};

	return io_slow_call_keep(&owner, fault, msg, len, fds);
}

int io_cmd_handle(struct io_client *c, const void *msg, size_t len, struct io_fds *fds, bool whole)
{
	struct io_call_fault fault = {0};
	struct cmd_reply rep;
	struct uhca_cmd_handle begin = {0}; /* as far as it came */
	const struct uhca_cmd_request *h = &begin.h;
	const struct command *command;
	int status;

	if (len < sizeof(*h))
		return -EPROTO;
	memcpy(&begin, msg, len < sizeof(begin) ? len : sizeof(begin));
	memset(&rep, 0, sizeof(rep));
	io_refusal_forget();
	command = find_command(h->cmd);
	status = whole || !command ? check(command, h, len, fds) : -EINVAL;
	if (status < 0)
		return send_reply(c, &begin, &rep, status);
	/* Telling of what was unread is a part of req_notify, of which rules hear otherwise. */
	if (h->cmd != UHCA_CMD_NOTIFY_CQ)
		fault = c->all->ops->judge(c->all->user, c, command->name, msg);
	if (fault.delay && keep(c, &fault, msg, len, fds) == 0)
		return 0;
	return answer(c, msg, fds, &fault);
}
/*
 * While one call waits there is nothing to be read but the end of the connection; a client that
 * does not wait for its answer is not listened to until it has it.
 */
static int wait(struct io_client *c)
{
	char byte;
	ssize_t n = recv(c->sock, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		return -ECONNRESET;
	if (n > 0)
		io_watch_stop(&c->readable); /* until io_client_listen */
	return -EAGAIN;
}

int io_cmd_receive(struct io_client *c)
{
	/* Aligned for the structures that handlers read in it. */
	_Alignas(8) uint8_t msg[UHCA_ABI_MAX_MESSAGE];
	struct io_fds fds;
	bool whole;
	ssize_t n;
	int error;

	if (!LIST_EMPTY(&c->slow))
		return wait(c);
	n = io_message_receive(c->sock, msg, sizeof(msg), &fds, &whole);
	/* An empty message looks like the end of the connection, but may bring descriptors. */
	if (n <= 0) {
		io_fds_close(&fds);
		return n == 0 ? -ECONNRESET : (int)n;
	}
	if ((size_t)n > sizeof(msg))
		n = sizeof(msg);
	c->all->heard++;
	error = io_cmd_handle(c, msg, (size_t)n, &fds, whole);
	io_fds_close(&fds);
	return error;
}
