/* SPDX-License-Identifier: BSD-2-Clause */
/* See file_writer.h. The thread is one of those who have the writer; the last one frees it. */
#include "file_writer.h"

#include "emu/io/base/base.h"
#include "emu/output/output.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

/* So long waits a caller where there is no room and the thread is at work. */
#define MOMENT_MS 2

struct piece {
	STAILQ_ENTRY(piece) link;
	size_t len;
	char bytes[];
};

struct io_file_writer {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	STAILQ_HEAD(, piece) pieces;
	size_t waiting;   /* bytes of pieces, with the one that is being written */
	unsigned written; /* pieces that ever were */
	unsigned noticed; /* of these, when a caller last waited for room */
	unsigned users;   /* the thread is one of them */
	unsigned owners;  /* who has not closed it; finish at 0 */
	bool ready;       /* it was opened, or cannot be */
	bool finish, ended;
	int error;
	char path[PATH_MAX];
};

static atomic_uint writers;

static void put_back(struct io_file_writer *w)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	last = --w->users == 0;
	pthread_mutex_unlock(&w->lock);
	if (!last)
		return;
	pthread_cond_destroy(&w->work);
	pthread_cond_destroy(&w->done);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* ---- the thread ---- */

int io_file_write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* NULL: there is none, and none comes. The lock is held. */
static struct piece *next_piece(struct io_file_writer *w)
{
	struct piece *p;

	while (STAILQ_EMPTY(&w->pieces) && !w->finish)
		pthread_cond_wait(&w->work, &w->lock);
	p = STAILQ_FIRST(&w->pieces);
	if (p)
		STAILQ_REMOVE_HEAD(&w->pieces, link);
	return p;
}

static void note(struct io_file_writer *w, int error)
{
	if (w->error == 0)
		w->error = error;
	w->ready = true;
	pthread_cond_broadcast(&w->done);
}

/* The lock is held at its beginning and at its end. */
static void write_pieces(struct io_file_writer *w, int fd)
{
	struct piece *p;

	while ((p = next_piece(w))) {
		int error = w->error;

		pthread_mutex_unlock(&w->lock);
		if (error == 0)
			error = io_file_write_all(fd, p->bytes, p->len);
		pthread_mutex_lock(&w->lock);
		w->waiting -= p->len;
		w->written++;
		free(p);
		note(w, error);
	}
}

static void *run(void *arg)
{
	struct io_file_writer *w = arg;
	/* not one that could block, as a FIFO can */
	int fd = output_open(w->path, OUTPUT_REGULAR | OUTPUT_PRIVATE);

	pthread_mutex_lock(&w->lock);
	note(w, fd < 0 ? fd : 0);
	write_pieces(w, fd);
	pthread_mutex_unlock(&w->lock);
	if (fd >= 0 && close(fd) < 0 && errno != EINTR)
		fd = -errno;
	/* A caller that has heard of the end can open another file at once. */
	atomic_fetch_sub(&writers, 1);
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	note(w, fd < 0 ? fd : 0);
	pthread_mutex_unlock(&w->lock);
	put_back(w);
	return NULL;
}

/* ---- the others ---- */

static struct io_file_writer *make(const char *path)
{
	struct io_file_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->work, NULL);
	pthread_cond_init(&w->done, NULL);
	STAILQ_INIT(&w->pieces);
	w->users = 2;
	w->owners = 1;
	memcpy(w->path, path, strlen(path) + 1);
	return w;
}

int io_file_writer_open(const char *path, struct io_file_writer **out)
{
	struct io_file_writer *w;

	if (strlen(path) >= sizeof(w->path))
		return -ENAMETOOLONG;
	w = make(path);
	if (!w)
		return -ENOMEM;
	if (atomic_fetch_add(&writers, 1) < IO_FILE_WRITERS_MAX && io_thread_start(run, w) == 0) {
		*out = w;
		return 0;
	}
	atomic_fetch_sub(&writers, 1);
	put_back(w);
	put_back(w);
	return -EAGAIN;
}

static int wait_done(struct io_file_writer *w, const struct timespec *end)
{
	return -pthread_cond_timedwait(&w->done, &w->lock, end);
}

static bool has_room(const struct io_file_writer *w, size_t len)
{
	return w->waiting + len <= IO_FILE_WRITER_ROOM;
}

/* A thread that has written nothing since the last time may not come back. */
static void wait_for_room(struct io_file_writer *w, size_t len)
{
	const struct timespec end = io_thread_in_ms(MOMENT_MS);

	if (w->written == w->noticed)
		return;
	while (!has_room(w, len) && w->error == 0 && wait_done(w, &end) == 0)
		;
	w->noticed = w->written;
}

int io_file_writer_put(struct io_file_writer *w, const void *bytes, size_t len)
{
	struct piece *p = malloc(sizeof(*p) + len);
	int error = p ? 0 : -EAGAIN;

	pthread_mutex_lock(&w->lock);
	if (!has_room(w, len))
		wait_for_room(w, len);
	if (w->error < 0)
		error = w->error;
	else if (!has_room(w, len))
		error = -EAGAIN;
	if (error == 0) {
		p->len = len;
		memcpy(p->bytes, bytes, len);
		STAILQ_INSERT_TAIL(&w->pieces, p, link);
		w->waiting += len;
		pthread_cond_signal(&w->work);
	}
	pthread_mutex_unlock(&w->lock);
	if (error < 0)
		free(p);
	return error;
}

size_t io_file_writer_waiting(struct io_file_writer *w)
{
	size_t n;

	pthread_mutex_lock(&w->lock);
	n = w->waiting;
	pthread_mutex_unlock(&w->lock);
	return n;
}

int io_file_writer_error(struct io_file_writer *w)
{
	int error;

	pthread_mutex_lock(&w->lock);
	error = w->error;
	pthread_mutex_unlock(&w->lock);
	return error;
}

static bool is_done(const struct io_file_writer *w)
{
	return w->ready && w->waiting == 0 && (!w->finish || w->ended);
}

int io_file_writer_wait(struct io_file_writer *w, unsigned ms)
{
	const struct timespec end = io_thread_in_ms(ms);
	int error = 0;

	pthread_mutex_lock(&w->lock);
	while (!is_done(w) && error == 0)
		error = wait_done(w, &end);
	if (is_done(w) || w->error < 0)
		error = w->error;
	pthread_mutex_unlock(&w->lock);
	return error;
}

void io_file_writer_finish(struct io_file_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->finish = true;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
}

struct io_file_writer *io_file_writer_get(struct io_file_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->users++;
	w->owners++;
	pthread_mutex_unlock(&w->lock);
	return w;
}

void io_file_writer_close(struct io_file_writer *w)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	last = --w->owners == 0;
	pthread_mutex_unlock(&w->lock);
	if (last)
		io_file_writer_finish(w);
	put_back(w);
}
