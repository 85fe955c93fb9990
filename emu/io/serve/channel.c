/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See channel.h. The sockets come from clients, which may change the file status flags that both
 * share: every call here says MSG_DONTWAIT itself.
 */
#include "channel.h"

#include "emu/io/base/base.h"
#include "emu/io/local/local.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define DRAINED 64 /* records of one channel in one pass of the loop */

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

	do
		n = send(ch->fd, record, ch->record, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return 1;
	return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? 0 : -1;
}

/* Some of what waits goes out, the rest in the next pass; false when the other end is closed. */
static bool drain(struct io_channel *ch)
{
	const void *record;
	int sent = 1;

	for (unsigned i = 0; i < DRAINED && (record = record_queue_first(&ch->waiting)); i++) {
		sent = try_send(ch, record);
		if (sent <= 0)
			break;
		record_queue_drop_first(&ch->waiting);
	}
	if (sent >= 0 && ch->waiting.n == 0)
		io_watch_change(&ch->watch, EPOLLIN);
	return sent >= 0;
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

/*
 * A connection to a socket of ours, the client's own for instance, would stay open for as long as
 * we hold it: nobody would ever hear that its client has ended.
 */
int io_channel_open(struct io_channel *ch, struct io_watches *watches, int fd, size_t record)
{
	int error;

	if (!io_descriptor_is_pair(fd))
		return io_refuse(-EINVAL, "the descriptor is not a socket pair's end");
	*ch = (struct io_channel){.fd = fd, .record = record};
	record_queue_init(&ch->waiting, record);
	ch->watch = (struct io_watch){.fd = fd, .event = on_event, .arg = ch};
	error = io_watch_start(watches, &ch->watch, EPOLLIN);
	if (error < 0)
		ch->fd = -1;
	return error;
}

static void free_records(void *queue)
{
	record_queue_clear(queue);
	free(queue);
}

/* Thousands may wait, and each was allocated by itself: a thread frees them. */
static void drop_waiting(struct io_channel *ch)
{
	struct io_record_queue *all =
		ch->waiting.n > DRAINED ? record_queue_detach(&ch->waiting) : NULL;

	if (all)
		io_reaper_do(free_records, all);
	else
		record_queue_clear(&ch->waiting);
}

void io_channel_close(struct io_channel *ch)
{
	if (!ch->watch.set)
		return;
	io_watch_stop(&ch->watch);
	/* No shutdown(2): the program has this end, too, and tells itself of our end by it. */
	io_reaper_close(ch->fd);
	drop_waiting(ch);
	ch->fd = -1;
	ch->gone = NULL;
}

/* Only a full socket leads here: a client that does not read its events. */
static bool enqueue(struct io_channel *ch, const void *record)
{
	int error = record_queue_add(&ch->waiting, record);

	if (error == -ENOMEM)
		io_log(IO_LOG_ERROR, "out of memory for an unread event");
	if (error < 0)
		return false;
	if (ch->waiting.n == 1)
		io_watch_change(&ch->watch, EPOLLIN | EPOLLOUT);
	return true;
}

bool io_channel_send(struct io_channel *ch, const void *record)
{
	int sent = 0;

	if (ch->fd < 0)
		return false;
	if (ch->waiting.n == 0)
		sent = try_send(ch, record);
	/* When the other end is closed, the loop finds out and tells. */
	return sent > 0 || (sent == 0 && enqueue(ch, record));
}

uint32_t io_channel_purge(struct io_channel *ch, uint64_t first)
{
	return record_queue_purge(&ch->waiting, first);
}
