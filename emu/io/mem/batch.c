/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See batch.h, and mem.h for the ways there are.
 */
#include "batch.h"

#include "emu/io/base/base.h"
#include "emu/io/local/local.h"
#include "present.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE      4096 /* up to here the descriptor is faster than process_vm */
#define ALIVE_FOR (100 * IO_USEC)

/* ---- walking over lists of pieces ---- */

size_t io_cursor_take(struct io_cursor *c, size_t want, struct iovec *out, unsigned max,
		      unsigned *n)
{
	size_t got = 0;

	*n = 0;
	while (got < want && *n < max && c->iov < c->end) {
		size_t left = c->iov->iov_len - c->skip;
		size_t len = left < want - got ? left : want - got;

		if (len > 0) {
			out[*n].iov_base = (uint8_t *)c->iov->iov_base + c->skip;
			out[(*n)++].iov_len = len;
			got += len;
		}
		c->skip += len;
		if (c->skip == c->iov->iov_len) {
			c->iov++;
			c->skip = 0;
		}
	}
	return got;
}

static size_t sum(const struct iovec *iov, unsigned n)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += iov[i].iov_len;
	return bytes;
}

/* ---- the ways ---- */

static int move_proc_piece(struct io_mem *m, const struct io_batch *b, struct io_cursor *local,
			   struct iovec remote)
{
	while (remote.iov_len > 0) {
		struct iovec part[IO_BATCH_LOCAL];
		unsigned n;
		size_t bytes = io_cursor_take(local, remote.iov_len, part, IO_BATCH_LOCAL, &n);
		off_t at = (off_t)(uintptr_t)remote.iov_base;
		ssize_t done = b->write ? pwritev(m->fd, part, (int)n, at)
					: preadv(m->fd, part, (int)n, at);

		if (done < 0 || (size_t)done != bytes)
			return -EFAULT;
		remote.iov_base = (uint8_t *)remote.iov_base + bytes;
		remote.iov_len -= bytes;
	}
	return 0;
}

static int move_proc(struct io_mem *m, const struct io_batch *b)
{
	struct io_cursor local = {b->local, b->local + b->n_local, 0};

	for (unsigned i = 0; i < b->n_remote; i++)
		if (move_proc_piece(m, b, &local, b->remote[i]) < 0)
			return -EFAULT;
	return 0;
}

/*
 * Is the process there that we mean? A process id is reused only after the process has ended,
 * been reaped, and all other ids have been used: that takes longer than ALIVE_FOR. An exec
 * replaces the memory but keeps the id; it closes the control socket.
 */
static bool alive(struct io_mem *m)
{
	uint64_t now = io_clock_now();
	struct pollfd p[2] = {{.fd = m->pidfd, .events = POLLIN},
			      {.fd = m->sock, .events = POLLRDHUP}};

	if (now - m->checked < ALIVE_FOR)
		return true;
	if (poll(p, 2, 0) != 0)
		return false;
	m->checked = now;
	return true;
}

/* Bytes, -EFAULT, -ESRCH, or -EPERM when this way is closed. */
static ssize_t move_vm_bytes(struct io_mem *m, const struct io_batch *b)
{
	ssize_t done;

	if (!alive(m))
		return -ESRCH;
	if (b->write)
		done = process_vm_writev(m->pid, b->local, b->n_local, b->remote, b->n_remote, 0);
	else
		done = process_vm_readv(m->pid, b->local, b->n_local, b->remote, b->n_remote, 0);
	if (done >= 0)
		return done;
	return errno == EFAULT || errno == ENOMEM ? -EFAULT : -EPERM;
}

static int move_vm(struct io_mem *m, const struct io_batch *b)
{
	ssize_t done = move_vm_bytes(m, b);

	if (done < 0)
		return (int)done;
	return (size_t)done == sum(b->local, b->n_local) ? 0 : -EFAULT;
}

static bool vm_is_better(const struct io_mem *m, const struct io_batch *b)
{
	if (!m->vm_usable || m->mode != IO_MEM_AUTO)
		return m->vm_usable;
	return b->n_remote > 1 || b->remote[0].iov_len > PAGE;
}

static int try_ways(struct io_mem *m, const struct io_batch *b)
{
	int error;

	if (!vm_is_better(m, b))
		return move_proc(m, b);
	error = move_vm(m, b);
	if (error == -EFAULT && m->mode == IO_MEM_AUTO)
		return move_proc(m, b); /* the program may have protected pages */
	if (error != -EPERM)
		return error;
	if (m->mode == IO_MEM_PROCESS_VM)
		return -EFAULT;
	io_log(IO_LOG_INFO, "process_vm is refused for process %d (%s), using its descriptor",
	       (int)m->pid, strerror(errno));
	m->vm_usable = false;
	return move_proc(m, b);
}

/*
 * Has the process no memory any more? It loses it first when it ends; its sockets close and its
 * pidfd tells later. Reading then finds the end of the file, not a hole.
 */
static bool is_gone(const struct io_mem *m, const struct io_batch *b)
{
	uint8_t byte;

	return pread(m->fd, &byte, 1, (off_t)(uintptr_t)b->remote[0].iov_base) == 0;
}

static int move_now(struct io_mem *m, const struct io_batch *b)
{
	int error = try_ways(m, b);

	return error == -EFAULT && is_gone(m, b) ? -ESRCH : error;
}

/*
 * The same for a thread that may come back when nobody waits any more: with a descriptor of its
 * own, and the bytes.
 */
struct errand {
	struct io_mem mem;
	struct io_batch b;
	alignas(IO_BATCH_STORE) uint8_t room[];
};

static int run_errand(void *arg)
{
	struct errand *e = arg;

	return move_now(&e->mem, &e->b);
}

static void drop_errand(void *arg)
{
	struct errand *e = arg;

	close(e->mem.fd);
	free(e);
}

/* One piece behind the other; what may be a tail gets a place as the scratch has it. */
static void lay_out(struct errand *e, const struct io_batch *b)
{
	uint8_t *to = e->room;

	e->b = *b;
	for (unsigned i = 0; i < b->n_local; i++) {
		size_t len = b->local[i].iov_len;

		to += (IO_BATCH_STORE - (uintptr_t)to % IO_BATCH_STORE) % IO_BATCH_STORE;
		if (len <= IO_BATCH_STORE && (uintptr_t)to % PAGE == PAGE - IO_BATCH_STORE)
			to += IO_BATCH_STORE;
		e->b.local[i].iov_base = to;
		if (b->write)
			memcpy(to, b->local[i].iov_base, len);
		to += len;
	}
}

static struct errand *errand_new(const struct io_mem *m, const struct io_batch *b)
{
	size_t bytes = sum(b->local, b->n_local) + (size_t)2 * IO_BATCH_STORE * b->n_local;
	struct errand *e = malloc(sizeof(*e) + bytes);

	if (!e)
		return NULL;
	e->mem = *m;
	e->mem.pidfd = e->mem.sock = -1; /* these could be another client's when it runs */
	e->mem.fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
	if (e->mem.fd < 0) {
		free(e);
		return NULL;
	}
	lay_out(e, b);
	return e;
}

static int move_patiently(struct io_mem *m, const struct io_batch *b)
{
	static const struct io_errand_plan plan = {run_errand, drop_errand};
	struct errand *e;
	int error;

	if (m->vm_usable && !alive(m))
		return -ESRCH;
	e = errand_new(m, b);
	if (!e)
		return move_now(m, b);
	error = io_patience_send(&m->patience, &plan, e);
	if (m->patience.out) {
		io_log(IO_LOG_WARN, "memory of process %d does not answer", (int)m->pid);
		return error;
	}
	m->vm_usable = e->mem.vm_usable;
	for (unsigned i = 0; i < b->n_local && !b->write && error == 0; i++)
		memcpy(b->local[i].iov_base, e->b.local[i].iov_base, b->local[i].iov_len);
	drop_errand(e);
	return error;
}

int io_batch_move(struct io_mem *m, const struct io_batch *b)
{
	if (!io_patience_is_back(&m->patience))
		return -ESRCH;
	return io_present_all(m->present, b->remote, b->n_remote, b->write) ? move_now(m, b)
									    : move_patiently(m, b);
}

ssize_t io_batch_move_some(struct io_mem *m, const struct io_batch *b)
{
	if (!io_patience_is_back(&m->patience) ||
	    !io_present_all(m->present, b->remote, b->n_remote, b->write))
		return 0;
	return move_vm_bytes(m, b);
}
