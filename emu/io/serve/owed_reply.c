/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps replies whose descriptors the kernel refuses for now (ETOOMANYREFS). */
#include "owed_reply.h"

#include "clients.h"
#include "emu/io/base/base.h"
#include "emu/io/local/local.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define FIRST_WAIT 1000000ull         /* ns; each next one is twice as long */
#define LAST_WAIT  (FIRST_WAIT << 13) /* then all of them were 16 s */

static void send_owed(void *owner, struct io_slow_call *call);

/* Takes the descriptors over, unless it fails. */
static int keep(struct io_client *c, uint64_t delay, const void *reply, size_t len,
		struct io_fds *fds)
{
	const struct io_slow_owner owner = {
		.loop = c->all->loop, .list = &c->slow, .resume = send_owed, .owner = c};
	const struct io_call_fault wait = {.delay = delay};

	return io_slow_call_keep(&owner, &wait, reply, len, fds);
}

static void send_owed(void *owner, struct io_slow_call *call)
{
	struct io_client *c = owner;
	int error = io_message_send(c->sock, call->msg, call->len, call->fds.fd, call->fds.n);

	if (error == -ETOOMANYREFS && call->fault.delay < LAST_WAIT &&
	    keep(c, 2 * call->fault.delay, call->msg, call->len, &call->fds) == 0)
		return;
	if (error < 0) {
		io_log(IO_LOG_WARN, "client %u: the reply cannot be sent: %s", c->id,
		       strerror(-error));
		io_clients_remove(c->all, c);
	} else {
		io_client_listen(c);
	}
}

/* The caller's descriptors may be gone by then: of these it has others. */
static int owe(struct io_client *c, const void *reply, size_t len, const int *fd, unsigned n)
{
	struct io_fds fds = {.n = 0};
	int error = 0;

	for (; fds.n < n && error == 0; fds.n += error == 0) {
		fds.fd[fds.n] = fcntl(fd[fds.n], F_DUPFD_CLOEXEC, 0);
		error = fds.fd[fds.n] < 0 ? -errno : 0;
	}
	if (error == 0)
		error = keep(c, FIRST_WAIT, reply, len, &fds);
	if (error < 0)
		io_fds_close(&fds);
	else
		io_log(IO_LOG_INFO,
		       "client %u: the reply waits: this user has too many descriptors in flight "
		       "between processes",
		       c->id);
	return error;
}

int io_reply_send(struct io_client *c, const void *reply, size_t len, const int *fd, unsigned n)
{
	int error = io_message_send(c->sock, reply, len, fd, n);

	return error == -ETOOMANYREFS ? owe(c, reply, len, fd, n) : error;
}
