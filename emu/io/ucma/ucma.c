/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ucma.h. Connections of clients, the table of commands, and replies. A request that is not
 * one ends its connection; a command that is wrong is answered with -EINVAL as the kernel does.
 */
#include "ucma.h"

#include "emu/io/base/base.h"
#include "emu/io/local/local.h"
#include "emu/io/mem/memory.h"
#include "ucma_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BURST 8 /* requests of one file, before others get their turn */

static ucma_handler *const handlers[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = ucma_create_id,
	[RDMA_USER_CM_CMD_DESTROY_ID] = ucma_destroy_id,
	[RDMA_USER_CM_CMD_BIND_IP] = ucma_bind_ip,
	[RDMA_USER_CM_CMD_RESOLVE_IP] = ucma_resolve_ip,
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = ucma_resolve_route,
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = ucma_query_route,
	[RDMA_USER_CM_CMD_CONNECT] = ucma_connect,
	[RDMA_USER_CM_CMD_LISTEN] = ucma_listen,
	[RDMA_USER_CM_CMD_ACCEPT] = ucma_accept,
	[RDMA_USER_CM_CMD_REJECT] = ucma_reject,
	[RDMA_USER_CM_CMD_DISCONNECT] = ucma_disconnect,
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = ucma_init_qp_attr,
	[RDMA_USER_CM_CMD_GET_EVENT] = ucma_get_event,
	[RDMA_USER_CM_CMD_GET_OPTION] = NULL, /* the kernel has none either */
	[RDMA_USER_CM_CMD_SET_OPTION] = ucma_set_option,
	[RDMA_USER_CM_CMD_NOTIFY] = ucma_notify,
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = ucma_join_ip_mcast,
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = ucma_leave_mcast,
	[RDMA_USER_CM_CMD_MIGRATE_ID] = ucma_migrate_id,
	[RDMA_USER_CM_CMD_QUERY] = ucma_query,
	[RDMA_USER_CM_CMD_BIND] = ucma_bind,
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = ucma_resolve_addr,
	[RDMA_USER_CM_CMD_JOIN_MCAST] = ucma_join_mcast,
	[UCMA_RESOLVE_IB_SERVICE] = ucma_resolve_ib_service,
	[UCMA_WRITE_CM_EVENT] = ucma_write_event,
};

void ucma_respond(struct ucma_command *c, const void *response, size_t len)
{
	memcpy(c->rep->response, response, len);
	c->rep->h.length = (uint32_t)len;
}

struct ucma_file *ucma_file_of(const struct io_ucma *u, int fd)
{
	uint64_t inode = io_descriptor_socket(fd);
	struct ucma_file *f;

	TAILQ_FOREACH(f, &u->files, link)
	{
		if (inode != 0 && f->inode == inode)
			return f;
	}
	return NULL;
}

static void destroy_file(struct ucma_file *f)
{
	struct io_ucma *u = f->ucma;

	io_slow_calls_drop(&f->slow);
	while (!LIST_EMPTY(&f->ids))
		ucma_id_destroy(LIST_FIRST(&f->ids));
	ev_io_stop(u->env.loop, &f->readable);
	io_undertaker_hang_up(f->sock);
	TAILQ_REMOVE(&u->files, f, link);
	u->n_files--;
	free(f);
	io_linger_go(u->env.linger);
}

static int hello(struct ucma_file *f, const struct io_fds *fds)
{
	if (f->inode || fds->n < 2)
		return -EINVAL;
	f->inode = io_descriptor_socket(fds->fd[1]);
	return f->inode ? 0 : -EINVAL;
}

static int token_back(struct ucma_file *f)
{
	f->token_out = f->token_recalled = false;
	ucma_token(f);
	return 0;
}

/* Whatever it was, something may have been given to a device to send. */
static void wake_devices(const struct io_devices *all)
{
	for (unsigned i = 0; i < all->n; i++)
		all->at[i]->dirty = true;
}

static int execute(struct ucma_file *f, const struct uhca_ucma_request *r, struct ucma_command *c,
		   int error)
{
	int status;

	if (r->cmd == UHCA_UCMA_HELLO)
		return hello(f, c->fds);
	if (!f->inode)
		return -EINVAL;
	if (r->cmd == UHCA_UCMA_TOKEN)
		return token_back(f);
	if (r->cmd >= sizeof(handlers) / sizeof(handlers[0]))
		return -EINVAL;
	if (!handlers[r->cmd])
		return -ENOSYS;
	if (ucma_fault_comes_later(r->cmd, error))
		c->late_error = error;
	else if (error)
		return -error;
	status = handlers[r->cmd](c);
	wake_devices(f->ucma->env.devices);
	return status;
}

static bool must_recall(struct ucma_file *f)
{
	if (!f->token_out || f->has_promise || !TAILQ_EMPTY(&f->events))
		return false;
	f->token_recalled = true;
	return true;
}

/* A request of the right form, in UHCA_UCMA_MAX bytes, zero behind the n that came. */
static void answer(struct ucma_file *f, const uint8_t *msg, size_t n, struct io_fds *fds, int error)
{
	struct ucma_reply rep = {0};
	struct uhca_ucma_request r;
	struct ucma_command c = {.file = f, .emptied = f, .fds = fds, .rep = &rep};
	_Alignas(8) uint8_t in[2 * UHCA_UCMA_MAX] = {0};

	memcpy(&r, msg, sizeof(r));
	if (r.length - r.option > sizeof(struct rdma_ucm_cmd_hdr))
		memcpy(in, msg + sizeof(r) + sizeof(struct rdma_ucm_cmd_hdr),
		       r.length - r.option - sizeof(struct rdma_ucm_cmd_hdr));
	c.in = in;
	c.option = msg + n - r.option;
	c.option_len = r.option;
	rep.h.status = execute(f, &r, &c, error);
	if (rep.h.status < 0)
		rep.h.length = 0;
	if (must_recall(c.emptied))
		rep.h.flags |= UHCA_UCMA_TAKE_TOKEN;
	io_mem_settle();
	io_message_send(fds->fd[0], &rep, sizeof(rep.h) + rep.h.length, NULL, 0);
}

static void resume(void *owner, struct io_slow_call *call)
{
	uint8_t msg[UHCA_UCMA_MAX] = {0};

	memcpy(msg, call->msg, call->len);
	answer(owner, msg, call->len, &call->fds, call->fault.error);
}

static int serve(struct ucma_file *f, const uint8_t *msg, size_t n, struct io_fds *fds)
{
	const struct io_slow_owner owner = {
		.loop = f->ucma->env.loop, .list = &f->slow, .resume = resume, .owner = f};
	struct uhca_ucma_request r;
	struct io_call_fault fault;

	memcpy(&r, msg, sizeof(r));
	if (n < sizeof(r) || r.magic != UHCA_UCMA_MAGIC || r.length != n - sizeof(r) ||
	    r.option > r.length || fds->n < 1)
		return -EPROTO;
	fault = ucma_fault(f, r.cmd);
	/* Each request has a socket of its own for its answer: others go on meanwhile. */
	if (!fault.delay || io_slow_call_keep(&owner, &fault, msg, n, fds) < 0)
		answer(f, msg, n, fds, fault.error);
	return 0;
}

static int receive(struct ucma_file *f)
{
	uint8_t msg[UHCA_UCMA_MAX] = {0};
	struct io_fds fds;
	bool whole;
	ssize_t n = io_message_receive(f->sock, msg, sizeof(msg), &fds, &whole);
	int error;

	if (n == -EAGAIN)
		return -EAGAIN;
	f->ucma->heard += n > 0;
	error = n > 0 && whole ? serve(f, msg, (size_t)n, &fds) : -ECONNRESET;
	io_fds_close(&fds);
	return error;
}

static void on_readable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct ucma_file *f = w->data;

	(void)loop;
	(void)revents;
	for (unsigned i = 0; i < BURST; i++) {
		int error = receive(f);

		if (error == -EAGAIN)
			return;
		if (error < 0) {
			const struct io_devices *all = f->ucma->env.devices;

			destroy_file(f);
			wake_devices(all);
			return;
		}
	}
}

static void add_file(void *arg, int sock, const struct ucred *peer)
{
	struct io_ucma *u = arg;
	struct ucma_file *f = calloc(1, sizeof(*f));

	if (!f) {
		io_undertaker_close(sock);
		return;
	}
	f->ucma = u;
	f->sock = sock;
	f->pid = peer->pid;
	LIST_INIT(&f->slow);
	LIST_INIT(&f->ids);
	LIST_INIT(&f->mcasts);
	TAILQ_INIT(&f->events);
	ev_io_init(&f->readable, on_readable, sock, EV_READ);
	f->readable.data = f;
	ev_io_start(u->env.loop, &f->readable);
	TAILQ_INSERT_TAIL(&u->files, f, link);
	u->n_files++;
	io_linger_come(u->env.linger);
}

int io_ucma_open(struct io_ucma *u, const struct io_ucma_env *env, const char *path)
{
	const struct io_devices *all = env->devices;

	u->env = *env;
	TAILQ_INIT(&u->files);
	for (unsigned i = 0; i < UCMA_PORT_BUCKETS; i++)
		LIST_INIT(&u->ports[i]);
	for (unsigned i = 0; i < all->n; i++) {
		core_cm_set_ops(all->at[i]->core, &ucma_cm_ops, all->at[i]);
		all->at[i]->ucma = u;
	}
	u->listener.accept = add_file;
	u->listener.arg = u;
	return io_listener_open(&u->listener, env->loop, path, SOCK_SEQPACKET);
}

void io_ucma_close(struct io_ucma *u)
{
	if (!u->env.loop)
		return;
	io_listener_close(&u->listener);
	while (!TAILQ_EMPTY(&u->files))
		destroy_file(TAILQ_FIRST(&u->files));
	free(u->slot);
}
