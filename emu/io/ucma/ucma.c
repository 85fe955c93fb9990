/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ucma.h. Connections of clients, the table of commands, and replies. A request that is not
 * one ends its connection; a command that is wrong is answered with -EINVAL as the kernel does.
 */
#include "ucma.h"

#include "emu/io/base/base.h"
#include "emu/io/local/local.h"
#include "ucma_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Requests of one file that are served before others get their turn; less when they take long. */
#define BURST 8

/* The offset of the number of the id that a command is about, or NO_ID: it looks for it itself. */
#define ID_(command) offsetof(struct rdma_ucm_##command, id)
#define NO_ID        SIZE_MAX

static const struct command {
	const char *verb; /* what the program called, as far as the command tells */
	ucma_handler *handle;
	size_t id_at;
	const char *rule; /* as rules name it; NULL: as the verb, "": not known to them */
} commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = {"rdma_create_id", ucma_create_id, NO_ID},
	[RDMA_USER_CM_CMD_DESTROY_ID] = {"rdma_destroy_id", ucma_destroy_id, ID_(destroy_id)},
	[RDMA_USER_CM_CMD_BIND_IP] = {"rdma_bind_addr", ucma_bind_ip, ID_(bind_ip)},
	[RDMA_USER_CM_CMD_RESOLVE_IP] = {"rdma_resolve_addr", ucma_resolve_ip, ID_(resolve_ip)},
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = {"rdma_resolve_route", ucma_resolve_route,
					    ID_(resolve_route)},
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = {"query_route of rdma_cm", ucma_query_route, ID_(query),
					  .rule = "rdma_query"},
	[RDMA_USER_CM_CMD_CONNECT] = {"rdma_connect", ucma_connect, ID_(connect)},
	[RDMA_USER_CM_CMD_LISTEN] = {"rdma_listen", ucma_listen, ID_(listen)},
	[RDMA_USER_CM_CMD_ACCEPT] = {"rdma_accept", ucma_accept, ID_(accept)},
	[RDMA_USER_CM_CMD_REJECT] = {"rdma_reject", ucma_reject, ID_(reject)},
	[RDMA_USER_CM_CMD_DISCONNECT] = {"rdma_disconnect", ucma_disconnect, ID_(disconnect)},
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = {"rdma_init_qp_attr", ucma_init_qp_attr,
					   ID_(init_qp_attr)},
	[RDMA_USER_CM_CMD_GET_EVENT] = {"rdma_get_cm_event", ucma_get_event, NO_ID,
					.rule = "rdma_get_event"},
	[RDMA_USER_CM_CMD_GET_OPTION] = {"get_option of rdma_cm", NULL, NO_ID,
					 .rule = ""}, /* the kernel has none either */
	[RDMA_USER_CM_CMD_SET_OPTION] = {"rdma_set_option", ucma_set_option, ID_(set_option)},
	[RDMA_USER_CM_CMD_NOTIFY] = {"rdma_notify", ucma_notify, ID_(notify)},
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = {"rdma_join_multicast", ucma_join_ip_mcast, NO_ID,
					    .rule = "rdma_join_mcast"},
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = {"rdma_leave_multicast", ucma_leave_mcast, NO_ID,
					  .rule = "rdma_leave_mcast"},
	[RDMA_USER_CM_CMD_MIGRATE_ID] = {"rdma_migrate_id", ucma_migrate_id, NO_ID},
	[RDMA_USER_CM_CMD_QUERY] = {"query of rdma_cm", ucma_query, ID_(query),
				    .rule = "rdma_query"},
	[RDMA_USER_CM_CMD_BIND] = {"rdma_bind_addr", ucma_bind, ID_(bind)},
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = {"rdma_resolve_addr", ucma_resolve_addr,
					   ID_(resolve_addr)},
	[RDMA_USER_CM_CMD_JOIN_MCAST] = {"rdma_join_multicast", ucma_join_mcast, NO_ID,
					 .rule = "rdma_join_mcast"},
	[UCMA_RESOLVE_IB_SERVICE] = {"rdma_resolve_addrinfo", ucma_resolve_ib_service, 0,
				     .rule = ""},
	[UCMA_WRITE_CM_EVENT] = {"rdma_write_cm_event", ucma_write_event, NO_ID},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

const char *ucma_rule_name(uint32_t cmd)
{
	const char *name = cmd < COMMANDS ? commands[cmd].rule : "";

	return name ? name : commands[cmd].verb;
}

void ucma_respond(struct ucma_command *c, const void *response, size_t len)
{
	memcpy(c->rep->response, response, len);
	c->rep->h.length = (uint32_t)len;
}

struct ucma_file *ucma_file_of(const struct io_ucma *u, int fd)
{
	uint64_t cookie = io_descriptor_socket(fd);
	struct ucma_file *f;

	TAILQ_FOREACH(f, &u->files, link)
	{
		if (cookie != 0 && f->cookie == cookie)
			return f;
	}
	return NULL;
}

_Static_assert(IO_MAX_DEVICES <= 64, "bits of ucma_file.part");

/* Names between commas; those that the daemon does not have are none. */
static void take_part(struct ucma_file *f, const char *list, size_t len)
{
	const struct io_devices *all = f->ucma->env.devices;

	f->has_part = true;
	for (size_t at = 0, n; at < len; at += n + 1) {
		for (n = 0; at + n < len && list[at + n] != ',';)
			n++;
		for (unsigned i = 0; i < all->n; i++)
			if (strlen(all->at[i]->id.name) == n &&
			    memcmp(all->at[i]->id.name, list + at, n) == 0)
				f->part |= 1ull << all->at[i]->id.index;
	}
}

static int hello(struct ucma_file *f, const struct io_fds *fds, const uint8_t *text, size_t len)
{
	size_t name = strnlen((const char *)text, len);

	if (f->cookie || fds->n < 2)
		return -EINVAL; /* no library of ours */
	if (name + 1 < len && text[name + 1] != '\0')
		take_part(f, (const char *)text + name + 1, len - name - 1);
	name = name < sizeof(f->program) ? name : sizeof(f->program) - 1;
	memcpy(f->program, text, name);
	f->cookie = io_descriptor_socket(fds->fd[1]);
	return f->cookie ? 0 : -EINVAL; /* nor this */
}

static int token_back(struct ucma_file *f)
{
	f->token_out = f->token_recalled = false;
	ucma_token(f);
	return 0;
}

void ucma_wake_devices(const struct io_ucma *u)
{
	const struct io_devices *all = u->env.devices;

	for (unsigned i = 0; i < all->n; i++)
		all->at[i]->dirty = true;
}

static int execute(struct ucma_file *f, const struct uhca_ucma_request *r, struct ucma_command *c,
		   int error)
{
	const struct command *command = &commands[r->cmd < COMMANDS ? r->cmd : 0];
	uint32_t slot;
	int status;

	if (r->cmd == UHCA_UCMA_HELLO)
		return hello(f, c->fds, c->name, r->length);
	if (!f->cookie)
		return -EINVAL; /* no library of ours */
	if (r->cmd == UHCA_UCMA_TOKEN)
		return token_back(f);
	if (r->cmd >= COMMANDS)
		return io_refuse(-EINVAL, "rdma_cm has no command with this number");
	if (!command->handle)
		return io_refuse(-ENOSYS, "the kernel's rdma_cm has no such command either");
	if (ucma_fault_comes_later(r->cmd, error))
		c->late_error = error;
	else if (error)
		return io_refuse(-error, "a fault rule makes it fail");
	if (command->id_at != NO_ID) {
		memcpy(&slot, (const uint8_t *)c->in + command->id_at, sizeof(slot));
		c->id = ucma_id_find(f, slot);
	}
	status = command->id_at == NO_ID || c->id ? command->handle(c) : ucma_no_id();
	ucma_wake_devices(f->ucma);
	return status;
}

static bool must_recall(struct ucma_file *f)
{
	if (!f->token_out || ucma_event_ready(f))
		return false;
	f->token_recalled = true;
	return true;
}

/* That there is no event is no failure. */
static void refuse(const struct ucma_file *f, uint32_t cmd, struct ucma_reply *rep)
{
	const struct ucma_id *id = f->ucma->asked;
	char object[32] = "", unknown[32];
	struct io_refusal r = {.program = f->program,
			       .pid = (int)f->owner->pid,
			       .verb = unknown,
			       .object = object,
			       .error = rep->h.status,
			       .reason = id && id->dev ? core_refusal(id->dev->core) : ""};

	rep->h.length = 0;
	if (r.error == -EAGAIN)
		return;
	snprintf(unknown, sizeof(unknown), "command %u of rdma_cm", cmd);
	if (cmd < COMMANDS && commands[cmd].verb)
		r.verb = commands[cmd].verb;
	if (id)
		snprintf(object, sizeof(object), "id %u", id->slot);
	rep->h.length = (uint32_t)io_refusal_format(&r, (char *)rep->response);
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
	c.name = msg + sizeof(r);
	f->ucma->asked = NULL;
	io_refusal_forget();
	c.option = msg + n - r.option;
	c.option_len = r.option;
	rep.h.status = execute(f, &r, &c, error);
	if (rep.h.status < 0)
		refuse(f, r.cmd, &rep);
	if (must_recall(c.emptied))
		rep.h.flags |= UHCA_UCMA_TAKE_TOKEN;
	io_message_send(fds->fd[0], &rep, sizeof(rep.h) + rep.h.length, NULL, 0);
	io_loop_pass_did("a call of rdma_cm");
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
	    r.option > r.length || fds->n < 1 || !io_descriptor_is_pair(fds->fd[0]))
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

static void on_readable(struct io_watch *w, uint32_t events)
{
	struct ucma_file *f = w->arg;
	uint64_t end = io_clock_now() + IO_MSEC;

	(void)events;
	for (unsigned i = 0; i < BURST && (i == 0 || io_clock_now() < end); i++) {
		int error = receive(f);

		if (error == -EAGAIN)
			return;
		if (error < 0) {
			ucma_file_end(f);
			return;
		}
	}
}

static struct ucma_file *make_file(struct io_ucma *u, pid_t pid)
{
	struct ucma_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->ucma = u;
	f->sock = -1;
	f->owner = ucma_owner_get(u, pid);
	LIST_INIT(&f->slow);
	LIST_INIT(&f->ids);
	TAILQ_INIT(&f->events);
	if (f->owner)
		return f;
	free(f);
	return NULL;
}

static void free_file(struct ucma_file *f)
{
	ucma_owner_put(f->owner);
	free(f);
}

static void add_file(void *arg, int sock, const struct ucred *peer)
{
	struct io_ucma *u = arg;
	struct ucma_file *f = make_file(u, peer->pid);

	if (!f) {
		io_reaper_close(sock);
		return;
	}
	f->sock = sock;
	f->readable = (struct io_watch){.fd = sock, .event = on_readable, .arg = f};
	if (io_watch_start(u->env.watches, &f->readable, EPOLLIN) < 0) {
		free_file(f);
		io_reaper_close(sock);
		return;
	}
	TAILQ_INSERT_TAIL(&u->files, f, link);
	u->n_files++;
	io_idle_timeout_come(u->env.idle_timeout);
}

static void init_lists(struct io_ucma *u)
{
	TAILQ_INIT(&u->files);
	TAILQ_INIT(&u->ending);
	for (unsigned i = 0; i < UCMA_PORT_BUCKETS; i++)
		LIST_INIT(&u->ports[i]);
	for (unsigned i = 0; i < UCMA_OWNER_BUCKETS; i++)
		LIST_INIT(&u->owners[i]);
}

int io_ucma_open(struct io_ucma *u, const struct io_ucma_env *env, const char *path)
{
	const struct io_devices *all = env->devices;

	init_lists(u);
	u->grave = make_file(u, -1);
	if (!u->grave)
		return -ENOMEM;
	u->grave->ending = true;
	u->env = *env;
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
		ucma_file_end(TAILQ_FIRST(&u->files));
	ucma_end_all(u);
	free_file(u->grave);
	free(u->numbers.slot);
	free(u->numbers.free);
}
