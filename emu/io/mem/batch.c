/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See batch.h, and mem.h for the ways there are.
 */
#include "batch.h"

#include "arena_watch.h"
#include "emu/io/base/base.h"
#include "emu/io/local/local.h"
#include "marker.h"
#include "present.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096 /* up to here the descriptor is faster than process_vm */

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

/* This way is closed: what there is of the memory is behind the descriptor. Returns -EPERM. */
static ssize_t leave_vm(struct io_mem *m, int error)
{
	const char *then = m->mode == IO_MEM_AUTO ? ", using its descriptor" : "";

	m->vm_usable = false;
	if (error == EFAULT)
		io_log(IO_LOG_INFO, "process %d no longer has the memory of its client%s",
		       (int)m->pid, then);
	else if (error != ESRCH)
		io_log(IO_LOG_INFO, "process_vm_readv(2) is refused for process %d (%s)%s",
		       (int)m->pid, strerror(error), then);
	return -EPERM;
}

/*
 * The marker page goes first (marker.h), so that nothing is moved in another address space. Bytes
 * of b; -EFAULT; -EPERM when this way is closed.
 */
static ssize_t move_vm_bytes(struct io_mem *m, const struct io_batch *b)
{
	struct iovec local[1 + IO_BATCH_LOCAL + 1], remote[1 + IO_BATCH_REMOTE + 1];
	uint8_t byte[IO_MARKER_BYTES] = {0};
	ssize_t done;

	if (!m->vm_usable)
		return -EPERM;
	local[0] = (struct iovec){byte, sizeof(byte)};
	remote[0] = io_marker_piece(m->marker);
	memcpy(local + 1, b->local, b->n_local * sizeof(local[0]));
	memcpy(remote + 1, b->remote, b->n_remote * sizeof(remote[0]));
	if (b->write)
		done = process_vm_writev(m->pid, local, 1 + b->n_local, remote, 1 + b->n_remote, 0);
	else
		done = process_vm_readv(m->pid, local, 1 + b->n_local, remote, 1 + b->n_remote, 0);
	if (done >= (ssize_t)IO_MARKER_BYTES)
		return done - (ssize_t)IO_MARKER_BYTES;
	return done < 0 && errno == ENOMEM ? -EFAULT : leave_vm(m, done < 0 ? errno : EFAULT);
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
	if (m->mode != IO_MEM_AUTO)
		return m->mode == IO_MEM_PROCESS_VM;
	if (!m->vm_usable)
		return false;
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
	return m->mode == IO_MEM_PROCESS_VM ? -EFAULT : move_proc(m, b);
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

	if (error == -EFAULT && io_arena_watch_mend(b->local, b->n_local))
		error = try_ways(m, b);
	return error == -EFAULT && is_gone(m, b) ? -ESRCH : error;
}

/*
 * The same for a thread that may come back when nobody waits any more: with a descriptor of its
 * own, and the bytes.
 */
struct file_request {
	struct io_mem mem;
	struct io_batch b;
	alignas(IO_BATCH_STORE) uint8_t room[];
};

static int run_file_request(void *arg)
{
	struct file_request *e = arg;

	return move_now(&e->mem, &e->b);
}

static void drop_file_request(void *arg)
{
	struct file_request *e = arg;

	close(e->mem.fd);
	free(e);
}

/* One piece behind the other; what may be a tail gets a place as the scratch has it. */
static void lay_out(struct file_request *e, const struct io_batch *b)
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

static struct file_request *file_request_new(const struct io_mem *m, const struct io_batch *b)
{
	size_t bytes = sum(b->local, b->n_local) + (size_t)2 * IO_BATCH_STORE * b->n_local;
	struct file_request *e = malloc(sizeof(*e) + bytes);

	if (!e)
		return NULL;
	e->mem = *m;
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
	static const struct io_file_request_plan plan = {run_file_request, drop_file_request};
	struct file_request *e;
	int error;

	e = file_request_new(m, b);
	if (!e)
		return move_now(m, b);
	error = io_page_worker_send(&m->page_worker, &plan, e);
	if (m->page_worker.out) {
		io_log(IO_LOG_WARN, "memory of process %d does not respond", (int)m->pid);
		return error;
	}
	m->vm_usable = e->mem.vm_usable;
	for (unsigned i = 0; i < b->n_local && !b->write && error == 0; i++)
		memcpy(b->local[i].iov_base, e->b.local[i].iov_base, b->local[i].iov_len);
	drop_file_request(e);
	return error;
}

/* Nobody has to bring a page of these, nor the marker page where that is needed? */
static bool is_present(struct io_mem *m, const struct io_batch *b)
{
	const struct iovec marker = io_marker_piece(m->marker);

	return io_present_all(m->present, b->remote, b->n_remote, b->write) &&
	       (!vm_is_better(m, b) || io_present_all(m->present, &marker, 1, b->write));
}

int io_batch_move(struct io_mem *m, const struct io_batch *b)
{
	if (!io_page_worker_is_back(&m->page_worker))
		return -ESRCH;
	return is_present(m, b) ? move_now(m, b) : move_patiently(m, b);
}
