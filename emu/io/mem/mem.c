/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See mem.h. A transfer is cut into batches: a list of local and one of remote pieces of equal
 * total. The final bytes of a write (up to 8, so that they begin at a multiple of 8 bytes in the
 * destination) are a piece of their own that goes last. Their source, and that of all small
 * writes, is an aligned place in mid-page: the kernel's copy has been seen to tear an 8-byte
 * store whose source stands in the last bytes of a page.
 */
#include "mem.h"

#include "emu/io/base/base.h"
#include "emu/io/local/local.h"
#include "mapped.h"
#include "present.h"
#include "stretch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define LOCAL_PIECES  96
#define REMOTE_PIECES 64
#define SMALL         8    /* bytes that are stored in one go */
#define PAGE          4096 /* up to here the descriptor is faster than process_vm */
#define ALIVE_FOR     (100 * IO_USEC)

/* Source of small stores; the shell is single-threaded. */
static struct {
	alignas(4096) uint8_t before[2048];
	uint8_t bytes[SMALL];
	uint8_t after[2048 - SMALL];
} scratch;

static const char *const mode_name[] = {
	[IO_MEM_AUTO] = "auto",
	[IO_MEM_PROCESS_VM] = "process_vm",
	[IO_MEM_PROC_MEM] = "proc_mem",
};

const char *io_mem_mode_name(enum io_mem_mode mode)
{
	return mode_name[mode];
}

const char *io_mem_how(const struct io_mem *m)
{
	if (!m->vm_usable)
		return "proc_mem";
	return m->mode == IO_MEM_PROCESS_VM ? "process_vm" : "process_vm+proc_mem";
}

/* ---- opening ---- */

/* What the descriptor was opened as, as far as this process can name it. */
static bool fd_path(int fd, char *path, size_t cap)
{
	char link[40];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, cap - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	return true;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s);
	size_t m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

/* process_vm only when the descriptor is the memory of the process we would address. */
static void pin_process(struct io_mem *m, const char *path)
{
	char expected[40];

	snprintf(expected, sizeof(expected), "/proc/%d/mem", (int)m->pid);
	if (m->pid <= 0 || strcmp(path, expected) != 0)
		return;
	m->present = io_present_open(m->pid);
	if (m->mode == IO_MEM_PROC_MEM)
		return;
	m->pidfd = pidfd_open(m->pid, 0);
	m->vm_usable = m->pidfd >= 0;
}

int io_mem_open(struct io_mem *m, int fd, pid_t pid, int sock, enum io_mem_mode mode)
{
	char path[256];
	int error = -EINVAL;

	*m = (struct io_mem){.fd = fd, .pidfd = -1, .sock = sock, .pid = pid, .mode = mode};
	if (!io_descriptor_is_proc(fd)) {
		io_undertaker_close(fd);
		m->fd = -1;
		goto fail;
	}
	if (!fd_path(fd, path, sizeof(path)) || !ends_with(path, "/mem"))
		goto fail;
	pin_process(m, path);
	error = -EPERM;
	if (mode == IO_MEM_PROCESS_VM && !m->vm_usable)
		goto fail;
	return 0;
fail:
	io_mem_close(m);
	return error;
}

void io_mem_close(struct io_mem *m)
{
	io_patience_end(&m->patience);
	io_present_close(m->present);
	if (m->fd >= 0)
		close(m->fd);
	if (m->pidfd >= 0)
		close(m->pidfd);
	*m = (struct io_mem){.fd = -1, .pidfd = -1, .sock = -1};
}

void io_mem_forget(struct io_mem *m)
{
	io_present_forget(m->present);
}

/* ---- walking over lists of pieces ---- */

struct cursor {
	const struct iovec *iov;
	const struct iovec *end;
	size_t skip; /* bytes of *iov that are done */
};

/* Takes up to "want" bytes in up to "max" pieces; *n pieces, returns their bytes. */
static size_t take(struct cursor *c, size_t want, struct iovec *out, unsigned max, unsigned *n)
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

/* One batch between our memory and that of one space. */
struct batch {
	bool write; /* into the client */
	unsigned n_local;
	unsigned n_remote;
	struct iovec local[LOCAL_PIECES + 1]; /* one more: the tail */
	struct iovec remote[REMOTE_PIECES + 1];
};

static int move_proc_piece(struct io_mem *m, const struct batch *b, struct cursor *local,
			   struct iovec remote)
{
	while (remote.iov_len > 0) {
		struct iovec part[LOCAL_PIECES];
		unsigned n;
		size_t bytes = take(local, remote.iov_len, part, LOCAL_PIECES, &n);
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

static int move_proc(struct io_mem *m, const struct batch *b)
{
	struct cursor local = {b->local, b->local + b->n_local, 0};

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

/* 0, -EFAULT, -ESRCH, or -EPERM when this way is closed. */
static int move_vm(struct io_mem *m, const struct batch *b)
{
	size_t bytes = sum(b->local, b->n_local);
	ssize_t done;

	if (!alive(m))
		return -ESRCH;
	if (b->write)
		done = process_vm_writev(m->pid, b->local, b->n_local, b->remote, b->n_remote, 0);
	else
		done = process_vm_readv(m->pid, b->local, b->n_local, b->remote, b->n_remote, 0);
	if (done >= 0)
		return (size_t)done == bytes ? 0 : -EFAULT;
	return errno == EFAULT || errno == ENOMEM ? -EFAULT : -EPERM;
}

static bool vm_is_better(const struct io_mem *m, const struct batch *b)
{
	if (!m->vm_usable || m->mode != IO_MEM_AUTO)
		return m->vm_usable;
	return b->n_remote > 1 || b->remote[0].iov_len > PAGE;
}

static int try_ways(struct io_mem *m, const struct batch *b)
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
static bool is_gone(const struct io_mem *m, const struct batch *b)
{
	uint8_t byte;

	return pread(m->fd, &byte, 1, (off_t)(uintptr_t)b->remote[0].iov_base) == 0;
}

static int move_now(struct io_mem *m, const struct batch *b)
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
	struct batch b;
	alignas(SMALL) uint8_t room[];
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
static void lay_out(struct errand *e, const struct batch *b)
{
	uint8_t *to = e->room;

	e->b = *b;
	for (unsigned i = 0; i < b->n_local; i++) {
		size_t len = b->local[i].iov_len;

		to += (SMALL - (uintptr_t)to % SMALL) % SMALL;
		if (len <= SMALL && (uintptr_t)to % PAGE == PAGE - SMALL)
			to += SMALL;
		e->b.local[i].iov_base = to;
		if (b->write)
			memcpy(to, b->local[i].iov_base, len);
		to += len;
	}
}

static struct errand *errand_new(const struct io_mem *m, const struct batch *b)
{
	size_t bytes = sum(b->local, b->n_local) + (size_t)2 * SMALL * b->n_local;
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

static int move_patiently(struct io_mem *m, const struct batch *b)
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

static int move_client(struct io_mem *m, const struct batch *b)
{
	if (!io_patience_is_back(&m->patience))
		return -ESRCH;
	return io_present_all(m->present, b->remote, b->n_remote, b->write) ? move_now(m, b)
									    : move_patiently(m, b);
}

static void move_device(const struct batch *b)
{
	struct cursor local = {b->local, b->local + b->n_local, 0};
	struct cursor remote = {b->remote, b->remote + b->n_remote, 0};
	struct iovec l;
	struct iovec r;
	unsigned n;

	while (take(&remote, SIZE_MAX, &r, 1, &n) > 0) {
		while (r.iov_len > 0 && take(&local, r.iov_len, &l, 1, &n) > 0) {
			if (b->write)
				io_mapped_store(r.iov_base, l.iov_base, l.iov_len);
			else
				memcpy(l.iov_base, r.iov_base, l.iov_len);
			r.iov_base = (uint8_t *)r.iov_base + l.iov_len;
			r.iov_len -= l.iov_len;
		}
	}
}

/* ---- cutting a transfer into batches ---- */

struct walk {
	struct cursor local;
	const struct core_span *span;
	const struct core_span *end;
	uint32_t skip;
};

/* The space of the next byte. */
static uint32_t next_space(struct walk *w)
{
	while (w->skip == w->span->length) {
		w->span++;
		w->skip = 0;
	}
	return w->span->space;
}

/* Remote pieces of the next byte's space, up to "want" bytes. */
static size_t take_spans(struct walk *w, size_t want, struct batch *b)
{
	uint32_t space = next_space(w);
	size_t got = 0;

	b->n_remote = 0;
	while (got < want && b->n_remote < REMOTE_PIECES && w->span < w->end &&
	       w->span->space == space) {
		size_t left = w->span->length - w->skip;
		size_t len = left < want - got ? left : want - got;

		if (len > 0)
			b->remote[b->n_remote++] =
				(struct iovec){(void *)(uintptr_t)(w->span->addr + w->skip), len};
		got += len;
		w->skip += (uint32_t)len;
		if (w->skip == w->span->length) {
			w->span++;
			w->skip = 0;
		}
	}
	return got;
}

/*
 * The next batch of up to "want" bytes; returns its bytes. The local list may be the one that
 * runs into its limit, or the remote one: the shorter rules.
 */
static size_t next_batch(struct walk *w, size_t want, struct batch *b)
{
	struct cursor start = w->local;
	size_t covered = take(&w->local, want, b->local, LOCAL_PIECES, &b->n_local);
	size_t bytes = take_spans(w, covered, b);

	if (bytes < covered) {
		w->local = start;
		take(&w->local, bytes, b->local, LOCAL_PIECES, &b->n_local);
	}
	return bytes;
}

static int move(struct io_mem *m, uint32_t space, const struct batch *b)
{
	if (b->n_remote == 0)
		return 0;
	if (space == CORE_SPACE_CLIENT)
		return move_client(m, b);
	move_device(b);
	return 0;
}

static size_t span_bytes(const struct core_span *spans, unsigned n)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += spans[i].length;
	return bytes;
}

/* As many stretches as one call takes. Returns how many pieces they are, or an error. */
static int read_stretches(struct io_mem *m, const struct core_span *from, unsigned n, uint8_t **to)
{
	static uint8_t buffer[IO_STRETCH_BYTES];
	struct io_stretch s[REMOTE_PIECES];
	struct batch b = {.n_local = 1};
	unsigned pieces = 0, done = 0;
	const uint8_t *at = buffer;
	size_t bytes = 0;
	int error;

	for (; b.n_remote < REMOTE_PIECES && pieces < n; pieces += s[b.n_remote++].n) {
		s[b.n_remote] = io_stretch_next(from + pieces, n - pieces);
		if (bytes + s[b.n_remote].length > IO_STRETCH_BYTES)
			break;
		bytes += s[b.n_remote].length;
		b.remote[b.n_remote] =
			(struct iovec){(void *)(uintptr_t)s[b.n_remote].addr, s[b.n_remote].length};
	}
	b.local[0] = (struct iovec){buffer, bytes};
	error = move_client(m, &b);
	for (unsigned i = 0; i < b.n_remote && error == 0; i++) {
		*to = io_stretch_pick(&s[i], from + done, at, *to);
		at += s[i].length;
		done += s[i].n;
	}
	return error < 0 ? error : (int)pieces;
}

static int read_by_stretches(struct io_mem *m, const struct core_span *from, unsigned n, void *to)
{
	uint8_t *at = to;

	while (n > 0) {
		int pieces = read_stretches(m, from, n, &at);

		if (pieces < 0)
			return pieces;
		from += pieces;
		n -= (unsigned)pieces;
	}
	return 0;
}

int io_mem_read(struct io_mem *m, const struct core_span *from, unsigned n, void *to)
{
	struct iovec whole = {to, span_bytes(from, n)};
	struct walk w = {{&whole, &whole + 1, 0}, from, from + n, 0};
	struct batch b = {.write = false};
	size_t left = whole.iov_len;
	int error;

	if (io_mapped_all(from, n)) {
		io_mapped_read(from, n, to);
		return 0;
	}
	if (io_stretch_pays(from, n))
		return read_by_stretches(m, from, n, to);
	while (left > 0) {
		uint32_t space = next_space(&w);

		left -= next_batch(&w, left, &b);
		error = move(m, space, &b);
		if (error < 0)
			return error;
	}
	return 0;
}

/* Copies the last len bytes (at most SMALL) of the local list to the scratch place. */
static void gather_small(struct cursor *local, size_t len)
{
	struct iovec piece;
	unsigned n;

	for (size_t at = 0; take(local, len - at, &piece, 1, &n) > 0; at += piece.iov_len)
		memcpy(scratch.bytes + at, piece.iov_base, piece.iov_len);
}

/* Bytes that are to become visible last: up to the last multiple of 8 before the end. */
static size_t tail_bytes(const struct core_span *last)
{
	size_t tail = (last->addr + last->length) % SMALL;

	if (tail == 0)
		tail = SMALL;
	return tail < last->length ? tail : last->length;
}

/* The tail as one more piece of the batch, or as a batch of its own when b holds nothing. */
static void append_tail(struct batch *b, const struct core_span *last, size_t tail)
{
	b->local[b->n_local++] = (struct iovec){scratch.bytes, tail};
	b->remote[b->n_remote++] =
		(struct iovec){(void *)(uintptr_t)(last->addr + last->length - tail), tail};
}

static int write_small(struct io_mem *m, struct walk *w, size_t left)
{
	struct iovec whole = {scratch.bytes, left};
	struct batch b = {.write = true};
	int error;

	gather_small(&w->local, left);
	w->local = (struct cursor){&whole, &whole + 1, 0};
	while (left > 0) {
		uint32_t space = next_space(w);

		left -= next_batch(w, left, &b);
		error = move(m, space, &b);
		if (error < 0)
			return error;
	}
	return 0;
}

static int write_long(struct io_mem *m, struct walk *w, size_t total)
{
	const struct core_span *last = w->end - 1;
	size_t tail = tail_bytes(last);
	size_t left = total - tail;
	struct batch b = {.write = true};
	int error;

	while (left > 0) {
		uint32_t space = next_space(w);

		left -= next_batch(w, left, &b);
		if (left == 0 && space == last->space)
			break;
		error = move(m, space, &b);
		if (error < 0)
			return error;
		b.n_local = b.n_remote = 0;
	}
	gather_small(&w->local, tail);
	append_tail(&b, last, tail);
	return move(m, last->space, &b);
}

int io_mem_write(struct io_mem *m, const struct core_span *to, unsigned n, const struct iovec *from,
		 unsigned n_from)
{
	struct walk w = {{from, from + n_from, 0}, to, to + n, 0};
	size_t total;

	if (io_mapped_all(to, n)) {
		io_mapped_write(to, n, from);
		return 0;
	}
	while (w.end > w.span && w.end[-1].length == 0)
		w.end--;
	total = span_bytes(to, n);
	if (total == 0)
		return 0;
	return total <= SMALL ? write_small(m, &w, total) : write_long(m, &w, total);
}
