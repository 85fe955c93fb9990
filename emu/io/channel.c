/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See channel.h. The sockets come from clients, which may change the file status flags that both
 * share: every call here says MSG_DONTWAIT itself.
 */
#include "channel.h"

#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_seqpacket(int fd)
{
	int domain;
	int type;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

static void set_gone(struct io_channel *ch)
{
	void (*gone)(struct io_channel *, void *) = ch->gone;
	void *arg = ch->arg;

	io_channel_close(ch);
	if (gone)
		gone(ch, arg);
}

/* Nobody writes to our end. A client that does is misusing it, and its channel goes. */
static void on_readable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct io_channel *ch = w->data;
	uint64_t ignored;
	ssize_t n = recv(ch->fd, &ignored, sizeof(ignored), MSG_DONTWAIT);

	(void)loop;
	(void)revents;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	set_gone(ch);
}

/* 1 sent, 0 the socket is full, -1 the other end is closed. */
static int try_send(struct io_channel *ch, const void *record)
{
	ssize_t n;

	do
		n = send(ch->fd, record, ch->record, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return 1;
	return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? 0 : -1;
}

static void on_writable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct io_channel *ch = w->data;
	size_t done = 0;
	int sent = 1;

	(void)revents;
	while (done < ch->queued && (sent = try_send(ch, ch->queue + done * ch->record)) > 0)
		done++;
	if (sent < 0) {
		set_gone(ch);
		return;
	}
	ch->queued -= done;
	memmove(ch->queue, ch->queue + done * ch->record, ch->queued * ch->record);
	if (ch->queued == 0)
		ev_io_stop(loop, &ch->writable);
}

int io_channel_open(struct io_channel *ch, struct ev_loop *loop, int fd, size_t record)
{
	if (!is_seqpacket(fd))
		return -EINVAL;
	*ch = (struct io_channel){.loop = loop, .fd = fd, .record = record};
	ev_io_init(&ch->readable, on_readable, fd, EV_READ);
	ev_io_init(&ch->writable, on_writable, fd, EV_WRITE);
	ch->readable.data = ch;
	ch->writable.data = ch;
	ev_io_start(loop, &ch->readable);
	return 0;
}

void io_channel_on_gone(struct io_channel *ch, void (*gone)(struct io_channel *, void *), void *arg)
{
	ch->gone = gone;
	ch->arg = arg;
}

void io_channel_close(struct io_channel *ch)
{
	if (!ch->loop)
		return;
	ev_io_stop(ch->loop, &ch->readable);
	ev_io_stop(ch->loop, &ch->writable);
	if (ch->fd >= 0)
		close(ch->fd);
	free(ch->queue);
	ch->fd = -1;
	ch->queue = NULL;
	ch->queued = ch->capacity = 0;
	ch->gone = NULL;
}

static bool is_queued(const struct io_channel *ch, const void *record)
{
	for (size_t i = 0; i < ch->queued; i++)
		if (memcmp(ch->queue + i * ch->record, record, ch->record) == 0)
			return true;
	return false;
}

/* Only a full socket leads here: a client that does not read its events. */
static bool enqueue(struct io_channel *ch, const void *record)
{
	if (is_queued(ch, record))
		return false;
	if (ch->queued == ch->capacity) {
		size_t capacity = ch->capacity ? ch->capacity * 2 : 64;
		uint8_t *queue = realloc(ch->queue, capacity * ch->record);

		if (!queue) {
			io_log(IO_LOG_ERROR, "no memory for an event that waits for its reader");
			return false;
		}
		ch->queue = queue;
		ch->capacity = capacity;
	}
	memcpy(ch->queue + ch->queued++ * ch->record, record, ch->record);
	ev_io_start(ch->loop, &ch->writable);
	return true;
}

bool io_channel_send(struct io_channel *ch, const void *record)
{
	int sent = 0;

	if (ch->fd < 0)
		return false;
	if (ch->queued == 0)
		sent = try_send(ch, record);
	/* When the other end is closed, the loop finds out and tells. */
	return sent > 0 || (sent == 0 && enqueue(ch, record));
}

uint32_t io_channel_purge(struct io_channel *ch, uint64_t first)
{
	size_t kept = 0, before = ch->queued;

	for (size_t i = 0; i < ch->queued; i++) {
		const uint8_t *record = ch->queue + i * ch->record;

		if (memcmp(record, &first, sizeof(first)) != 0)
			memmove(ch->queue + kept++ * ch->record, record, ch->record);
	}
	ch->queued = kept;
	return (uint32_t)(before - kept);
}
