/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of contexts: opening one, queries, channels, address handles. See cmd_handler.h. */
#include "clients.h"
#include "cmd_handler.h"

#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * A client cannot open its own memory when it is not dumpable (proc(5)): whoever reads the log is
 * to know why its ibv_open_device fails.
 */
static int refuse_without_memory(const struct io_client *c, const struct uhca_cmd_hello *in)
{
	char name[sizeof(in->program)];

	if (in->mem_error > 4095)
		return -EINVAL;
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, in->program);
	for (char *p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			*p = '?';
	io_log(IO_LOG_WARN,
	       "%s, process %d of user %u, cannot open /proc/self/mem (%s), and the device cannot "
	       "access its memory: %s",
	       name, (int)c->peer.pid, (unsigned)c->peer.uid, strerror((int)in->mem_error),
	       in->mem_error == EACCES || in->mem_error == EPERM
		       ? "it is not dumpable; call prctl(PR_SET_DUMPABLE, 1) after changing the "
			 "user, or make the program file readable for its user"
	       : in->mem_error == ENOENT ? "access is refused; proc(5) must be mounted at /proc"
					 : "access is refused");
	return io_refuse(-(int)in->mem_error, "the process cannot open its own memory");
}

int cmd_hello(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_hello *in = r->msg;
	struct io_client *c = r->client;
	struct io_client_hello h = {.program = in->program};
	int error;

	if (c->core || in->magic != UHCA_ABI_MAGIC)
		return -EINVAL;
	if (in->version != UHCA_ABI_VERSION)
		return io_refuse(-EPROTO,
				 "the program's library has protocol version %u, the daemon %u; "
				 "use one release for both",
				 in->version, UHCA_ABI_VERSION);
	if (in->mem_error)
		return refuse_without_memory(c, in);
	h.dev = io_devices_find(c->all->devices, in->device, sizeof(in->device));
	if (!h.dev)
		return io_refuse(-ENODEV, "the daemon has no device of this name");
	if (h.dev->away)
		return io_refuse(-ENODEV, "the device is unplugged");
	h.mem_fd = io_fds_take(r->fds, 0);
	h.async_fd = io_fds_take(r->fds, 1);
	error = io_client_hello(c, &h);
	if (error < 0)
		return error;
	rep->hello.client = c->id;
	rep->hello.gather_limit = c->dev->config.gather_limit;
	rep->hello.pin = c->all->pin;
	rep->hello.marker = c->mem.marker;
	rep->fd[0] = c->all->status_fd;
	rep->fd[1] = c->doorbell.fd;
	rep->fd[2] = c->event_fd;
	rep->fd[3] = c->all->active_doorbells.shm.fd;
	rep->n_fds = 4;
	io_log(IO_LOG_INFO, "client %u: %s, process %d of user %u, opened %s, memory access by %s",
	       c->id, c->program, (int)c->peer.pid, (unsigned)c->peer.uid, c->dev->id.name,
	       io_mem_how(&c->mem));
	return 0;
}

int cmd_query_device(struct cmd *r, struct cmd_reply *rep)
{
	return core_query_device(r->client->core, &rep->device);
}

int cmd_query_gid(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_handle *in = r->msg;

	return core_query_gid(r->client->core, in->index, rep->gid.gid);
}

int cmd_create_channel(struct cmd *r, struct cmd_reply *rep)
{
	int fd = io_fds_take(r->fds, 0);
	int error = io_channel_table_add(&r->client->channels, fd, &rep->handle.handle);

	if (error < 0)
		r->fds->fd[0] = fd;
	return error;
}

int cmd_destroy_channel(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return io_channel_table_remove(&r->client->channels, cmd_handle_of(r));
}

int cmd_create_ah(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_create_ah *in = r->msg;

	if (in->attr.reserved != 0)
		return -EINVAL;
	return core_create_ah(r->client->core, in, &rep->handle.handle);
}

CMD_OF_HANDLE(cmd_destroy_ah, core_destroy_ah)
CMD_QUERY(cmd_query_port, core_query_port, port)

/* For people only: the log and, of a post, a capture and the flight recorder. */
int cmd_refused(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_refused *in = r->msg;
	const struct io_client *c = r->client;
	char verb[sizeof(in->verb) + 1], reason[sizeof(in->why)], object[32] = "",
								  why[UHCA_ABI_REFUSAL];
	struct io_refusal refusal = {.program = c->program,
				     .pid = (int)c->peer.pid,
				     .verb = verb,
				     .object = object,
				     .reason = reason};

	(void)rep;
	if (in->error == 0 || in->error > 4095)
		return -EINVAL; /* no library of ours */
	refusal.error = -(int)in->error;
	io_words_copy(verb, sizeof(verb), in->verb, sizeof(in->verb));
	io_words_copy(reason, sizeof(reason), in->why, sizeof(in->why));
	if (in->qpn)
		snprintf(object, sizeof(object), "QP 0x%06x", in->qpn);
	io_refusal_format(&refusal, why);
	if (in->qpn)
		io_pcap_refused(c->dev->pcap, &(struct io_trace_refused){.verb = verb,
									 .client = c->id,
									 .qpn = in->qpn,
									 .wr_id = in->wr_id,
									 .error = (int)in->error,
									 .state = in->state});
	return 0;
}

/* The rules have been asked already: here only what they said. */
int cmd_fault_check(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_fault_check *in = r->msg;
	uint32_t last = in->requests ? in->requests - 1 : 0;

	if (in->verb >= UHCA_FAULT_VERBS)
		return -EINVAL;
	rep->fault_check.error = (uint32_t)r->fault->error;
	/* Of a short list the last one fails: a rule that hits has an effect. */
	rep->fault_check.first = r->fault->bad_wr < last ? (uint32_t)r->fault->bad_wr : last;
	return 0;
}
