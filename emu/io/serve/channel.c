/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See channel.h. The sockets come from clients, which may change the file status flags that both
 * share: every call here says MSG_DONTWAIT itself.
 */
#include "channel.h"

#include "emu/io/base/base.h"
#include "emu/io/mem/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static bool is_seqpacket(int fd)
{
	int domain;
	int type;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

/*
 * One end of a pair that nobody can connect to, neither end of which has a name. A connection to a
 * socket of ours, the client's own for instance, would stay open for as long as we hold it: nobody
 * would ever hear that its client has ended.
 */
static bool is_of_a_pair(int fd)
{
	struct sockaddr_un at;
	socklen_t len = sizeof(at);

	return getpeername(fd, (struct sockaddr *)&at, &len) == 0 && len == sizeof(sa_family_t);
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
static bool is_gone(const struct io_channel *ch)
{
	uint64_t ignored;
	ssize_t n = recv(ch->fd, &ignored, sizeof(ignored), MSG_DONTWAIT);

	return n >= 0 || (errno != EAGAIN && errno != EINTR);
}

/* 1 sent, 0 the socket is full, -1 the other end is closed. */
static int try_send(struct io_channel *ch, const void *record)
{
	ssize_t n;

	io_mem_settle();
	do
		n = send(ch->fd, record, ch->record, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return 1;
	return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? 0 : -1;
}

/* What waits goes out; false when the other end is closed. */
static bool drain(struct io_channel *ch)
{
	size_t done = 0;
	int sent = 1;

	while (done < ch->queued && (sent = try_send(ch, ch->queue + done * ch->record)) > 0)
		done++;
	if (sent < 0)
		return false;
	ch->queued -= done;
	memmove(ch->queue, ch->queue + done * ch->record, ch->queued * ch->record);
	if (ch->queued == 0)
		io_watch_change(&ch->watch, EPOLLIN);
	return true;
}

static void on_event(struct io_watch *w, uint32_t events)
{
	struct io_channel *ch = w->arg;
	bool gone = (events & ~(uint32_t)EPOLLOUT) && is_gone(ch);

	if (!gone && events & EPOLLOUT)
		gone = !drain(ch);
	if (gone)
		set_gone(ch);
}

int io_channel_open(struct io_channel *ch, struct io_watches *watches, int fd, size_t record)
{
	int error;

	if (!is_seqpacket(fd) || !is_of_a_pair(fd))
		return -EINVAL;
	*ch = (struct io_channel){.fd = fd, .record = record};
	ch->watch = (struct io_watch){.fd = fd, .event = on_event, .arg = ch};
	error = io_watch_start(watches, &ch->watch, EPOLLIN);
	if (error < 0)
		ch->fd = -1;
	return error;
}

void io_channel_on_gone(struct io_channel *ch, void (*gone)(struct io_channel *, void *), void *arg)
{
	ch->gone = gone;
	ch->arg = arg;
}

void io_channel_close(struct io_channel *ch)
{
	if (!ch->watch.set)
		return;
	io_watch_stop(&ch->watch);
	/* No shutdown(2): the program has this end, too, and tells itself of our end by it. */
	io_undertaker_close(ch->fd);
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
	io_watch_change(&ch->watch, EPOLLIN | EPOLLOUT);
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
