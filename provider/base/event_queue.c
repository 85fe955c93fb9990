/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * There is no way to take a record out of the middle of a socket's queue, so the queue is read
 * empty and written again. The daemon may write meanwhile, so it may not all fit any more: the
 * rest waits in the backlog. While there is a backlog the socket is full or has been, so the
 * application has something to read, and after each read we are called.
 */
#include "event_queue.h"

#include "uncancelled.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define STEP 64u

void uhcav_event_queue_construct(struct uhcav_event_queue *q, int read_fd, int write_fd,
				 size_t size)
{
	memset(q, 0, sizeof(*q));
	q->read_fd = read_fd;
	q->write_fd = write_fd;
	q->size = size;
	pthread_mutex_init(&q->lock, NULL);
}

void uhcav_event_queue_destruct(struct uhcav_event_queue *q)
{
	free(q->waiting);
	q->waiting = NULL;
	pthread_mutex_destroy(&q->lock);
}

static void set_waiting(struct uhcav_event_queue *q, unsigned n)
{
	__atomic_store_n(&q->n, n, __ATOMIC_RELAXED);
}

/* Room for one more in the backlog. */
static bool reserve(struct uhcav_event_queue *q)
{
	void *more;

	if (q->n < q->room)
		return true;
	more = realloc(q->waiting, (size_t)(q->room + STEP) * sizeof(q->waiting[0]));
	if (!more)
		return false;
	q->waiting = more;
	q->room += STEP;
	return true;
}

static bool push(const struct uhcav_event_queue *q, const void *record)
{
	int before = uhcav_cancel_off();
	ssize_t n;

	do {
		n = send(q->write_fd, record, q->size, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	uhcav_cancel_back(before);
	return n == (ssize_t)q->size;
}

/* As much of the backlog as fits goes into the socket. */
static void push_waiting(struct uhcav_event_queue *q)
{
	unsigned done = 0;

	while (done < q->n && push(q, q->waiting[done]))
		done++;
	if (done)
		memmove(q->waiting, q->waiting[done], (q->n - done) * sizeof(q->waiting[0]));
	set_waiting(q, q->n - done);
}

/* One record of the socket to position at of the backlog. False when there is none. */
static bool pop(struct uhcav_event_queue *q, unsigned at)
{
	uint8_t record[UHCAV_EVENT_MAX] = {0};
	int before;
	ssize_t n;

	/* Room first, so that none is lost for want of memory. */
	if (!reserve(q))
		return false;
	before = uhcav_cancel_off();
	do {
		n = recv(q->read_fd, record, q->size, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	uhcav_cancel_back(before);
	if (n != (ssize_t)q->size)
		return false;
	memmove(q->waiting[at + 1], q->waiting[at], (q->n - at) * sizeof(q->waiting[0]));
	memcpy(q->waiting[at], record, sizeof(record));
	set_waiting(q, q->n + 1);
	return true;
}

static unsigned drop(struct uhcav_event_queue *q, uint64_t cookie)
{
	unsigned kept = 0, dropped;
	uint64_t first;

	for (unsigned i = 0; i < q->n; i++) {
		memcpy(&first, q->waiting[i], sizeof(first));
		if (first != cookie)
			memmove(q->waiting[kept++], q->waiting[i], sizeof(q->waiting[0]));
	}
	dropped = q->n - kept;
	set_waiting(q, kept);
	return dropped;
}

void uhcav_event_queue_put(struct uhcav_event_queue *q, const void *record)
{
	int saved = errno;

	pthread_mutex_lock(&q->lock);
	push_waiting(q);
	if ((q->n || !push(q, record)) && reserve(q)) {
		memset(q->waiting[q->n], 0, sizeof(q->waiting[0]));
		memcpy(q->waiting[q->n], record, q->size);
		set_waiting(q, q->n + 1);
	}
	pthread_mutex_unlock(&q->lock);
	errno = saved;
}

void uhcav_event_queue_refill(struct uhcav_event_queue *q)
{
	int saved = errno;

	if (!__atomic_load_n(&q->n, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&q->lock);
	push_waiting(q);
	pthread_mutex_unlock(&q->lock);
	errno = saved;
}

unsigned uhcav_event_queue_purge(struct uhcav_event_queue *q, uint64_t cookie)
{
	unsigned taken = 0, dropped;
	int saved = errno;

	pthread_mutex_lock(&q->lock);
	/* No more than a socket holds: a sender that never stops must not keep us here. */
	while (taken < 4096 && pop(q, taken))
		taken++;
	dropped = drop(q, cookie);
	push_waiting(q);
	pthread_mutex_unlock(&q->lock);
	errno = saved;
	return dropped;
}
