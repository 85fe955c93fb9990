/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See mem.h. A transfer is cut into batches: a list of local and one of remote pieces of equal
 * total. The final bytes of a write (up to 8, so that they begin at a multiple of 8 bytes in the
 * destination) are a piece of their own that goes last. Their source, and that of all small
 * writes, is an aligned place in mid-page: the kernel's copy has been seen to tear an 8-byte
 * store whose source stands in the last bytes of a page.
 */
#include "mem.h"

#include "batch.h"
#include "emu/io/base/base.h"
#include "emu/io/local/local.h"
#include "mapped.h"
#include "marker.h"
#include "present.h"
#include "stretch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define SMALL IO_BATCH_STORE

/* Source of small stores; the shell is single-threaded. */
static struct {
	alignas(4096) uint8_t before[2048];
	uint8_t bytes[SMALL];
	uint8_t after[2048 - SMALL];
} scratch;

const char *io_mem_how(const struct io_mem *m)
{
	if (m->mode == IO_MEM_PROCESS_VM)
		return "process_vm";
	return m->vm_usable ? "process_vm+proc_mem" : "proc_mem";
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

/*
 * process_vm, and the pagemap, are worth a try where the descriptor has the name of the process. A
 * name proves nothing: the marker page does, in each call.
 */
static void look_at_process(struct io_mem *m, const char *path)
{
	char expected[40];

	snprintf(expected, sizeof(expected), "/proc/%d/mem", (int)m->pid);
	if (m->pid <= 0 || strcmp(path, expected) != 0)
		return;
	m->present = io_present_open(m->pid);
	if (m->mode == IO_MEM_PROC_MEM)
		return;
	m->marker = io_marker_draw();
	m->vm_usable = m->marker != 0;
}

int io_mem_open(struct io_mem *m, int fd, pid_t pid, enum io_mem_mode mode)
{
	char path[256];

	*m = (struct io_mem){.fd = fd, .pid = pid, .mode = mode};
	if (!fd_path(fd, path, sizeof(path)) || !ends_with(path, "/mem") ||
	    !io_descriptor_is_memory(fd)) {
		io_reaper_close(fd);
		m->fd = -1;
		return -EINVAL;
	}
	look_at_process(m, path);
	if (mode == IO_MEM_PROCESS_VM && !m->vm_usable) {
		io_mem_close(m);
		return -EPERM;
	}
	return 0;
}

void io_mem_close(struct io_mem *m)
{
	io_page_worker_end(&m->page_worker);
	io_present_close(m->present);
	if (m->fd >= 0)
		close(m->fd);
	*m = (struct io_mem){.fd = -1};
}

void io_mem_forget(struct io_mem *m)
{
	io_present_forget(m->present);
}

bool io_mem_is_there(const struct io_mem *m, const struct core_span *at)
{
	const struct iovec piece = {(void *)(uintptr_t)at->addr, at->length};

	return io_present_all(m->present, &piece, 1, true);
}

static void move_device(const struct io_batch *b)
{
	struct io_cursor local = {b->local, b->local + b->n_local, 0};
	struct io_cursor remote = {b->remote, b->remote + b->n_remote, 0};
	struct iovec l;
	struct iovec r;
	unsigned n;

	while (io_cursor_take(&remote, SIZE_MAX, &r, 1, &n) > 0) {
		while (r.iov_len > 0 && io_cursor_take(&local, r.iov_len, &l, 1, &n) > 0) {
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
	struct io_cursor local;
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
static size_t take_spans(struct walk *w, size_t want, struct io_batch *b)
{
	uint32_t space = next_space(w);
	size_t got = 0;

	b->n_remote = 0;
	while (got < want && b->n_remote < IO_BATCH_REMOTE && w->span < w->end &&
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
static size_t next_batch(struct walk *w, size_t want, struct io_batch *b)
{
	struct io_cursor start = w->local;
	size_t covered = io_cursor_take(&w->local, want, b->local, IO_BATCH_LOCAL, &b->n_local);
	size_t bytes = take_spans(w, covered, b);

	if (bytes < covered) {
		w->local = start;
		io_cursor_take(&w->local, bytes, b->local, IO_BATCH_LOCAL, &b->n_local);
	}
	return bytes;
}

static int move(struct io_mem *m, uint32_t space, const struct io_batch *b)
{
	if (b->n_remote == 0)
		return 0;
	if (space == CORE_SPACE_CLIENT)
		return io_batch_move(m, b);
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
	struct io_stretch s[IO_BATCH_REMOTE];
	struct io_batch b;
	unsigned pieces = 0, done = 0;
	const uint8_t *at = buffer;
	size_t bytes = 0;
	int error;

	io_batch_begin(&b, false);
	for (; b.n_remote < IO_BATCH_REMOTE && pieces < n; pieces += s[b.n_remote++].n) {
		s[b.n_remote] = io_stretch_next(from + pieces, n - pieces);
		if (bytes + s[b.n_remote].length > IO_STRETCH_BYTES)
			break;
		bytes += s[b.n_remote].length;
		b.remote[b.n_remote] =
			(struct iovec){(void *)(uintptr_t)s[b.n_remote].addr, s[b.n_remote].length};
	}
	b.local[b.n_local++] = (struct iovec){buffer, bytes};
	error = io_batch_move(m, &b);
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

static int read_pieces(struct io_mem *m, const struct core_span *from, unsigned n, void *to)
{
	struct iovec whole = {to, span_bytes(from, n)};
	struct walk w = {{&whole, &whole + 1, 0}, from, from + n, 0};
	struct io_batch b;
	size_t left = whole.iov_len;
	int error;

	io_batch_begin(&b, false);
	while (left > 0) {
		uint32_t space = next_space(&w);

		left -= next_batch(&w, left, &b);
		error = move(m, space, &b);
		if (error < 0)
			return error;
	}
	return 0;
}

int io_mem_read(struct io_mem *m, const struct core_span *from, unsigned n, void *to)
{
	if (io_mapped_all(from, n)) {
		io_mapped_read(from, n, to);
		return 0;
	}
	if (io_stretch_pays(from, n))
		return read_by_stretches(m, from, n, to);
	return read_pieces(m, from, n, to);
}

/* Copies the last len bytes (at most SMALL) of the local list to the scratch place. */
static void gather_small(struct io_cursor *local, size_t len)
{
	struct iovec piece;
	unsigned n;

	for (size_t at = 0; io_cursor_take(local, len - at, &piece, 1, &n) > 0; at += piece.iov_len)
		memcpy(scratch.bytes + at, piece.iov_base, piece.iov_len);
}

/* The tail as one more piece of the batch, or as a batch of its own when b holds nothing. */
static void append_tail(struct io_batch *b, const struct core_span *last, size_t tail)
{
	b->local[b->n_local++] = (struct iovec){scratch.bytes, tail};
	b->remote[b->n_remote++] =
		(struct iovec){(void *)(uintptr_t)(last->addr + last->length - tail), tail};
}

static int write_small(struct io_mem *m, struct walk *w, size_t left)
{
	struct iovec whole = {scratch.bytes, left};
	struct io_batch b;
	int error;

	io_batch_begin(&b, true);
	gather_small(&w->local, left);
	w->local = (struct io_cursor){&whole, &whole + 1, 0};
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
	size_t tail = io_batch_tail(last->addr, last->length);
	size_t left = total - tail;
	struct io_batch b;
	int error;

	io_batch_begin(&b, true);
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
