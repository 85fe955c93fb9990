/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * There is no way to take a record out of the middle of a socket's queue, so the queue is read
 * empty and written again. When it fills up before all is back (the daemon writes into it at the
 * same time), taking one more out makes room for one: nothing is lost, and nothing waits.
 */
#include "event_queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PURGE_STEP  64u
/* More records than any socket buffer holds: the end of a loop against a raving sender. */
#define PURGE_LIMIT 65536u

struct records {
	uint8_t (*r)[UHCAV_EVENT_MAX];
	unsigned room;
	unsigned n;
	unsigned dropped;
};

/* Room for one more before a record is taken out, so that none is lost for want of memory. */
static bool reserve(struct records *q)
{
	void *r;

	if (q->n < q->room)
		return true;
	if (q->room >= PURGE_LIMIT)
		return false;
	r = realloc(q->r, (size_t)(q->room + PURGE_STEP) * sizeof(q->r[0]));
	if (!r)
		return false;
	q->r = r;
	q->room += PURGE_STEP;
	return true;
}

/* Takes one record out; drops it when it is the cookie's. False when there is none. */
static bool pop(struct records *q, int fd, size_t size, uint64_t cookie)
{
	uint64_t first;
	ssize_t n;

	if (!reserve(q))
		return false;
	do {
		n = recv(fd, q->r[q->n], size, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)size)
		return false;
	memcpy(&first, q->r[q->n], sizeof(first));
	if (first == cookie)
		q->dropped++;
	else
		q->n++;
	return true;
}

static bool push(int fd, const void *record, size_t size)
{
	ssize_t n;

	do {
		n = send(fd, record, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

unsigned uhcav_event_purge(int read_fd, int write_fd, size_t size, uint64_t cookie)
{
	struct records q = {.r = NULL};
	unsigned back = 0;

	while (pop(&q, read_fd, size, cookie))
		;
	/* Nothing of ours was there and the order is what it was: put back as it came. */
	while (back < q.n) {
		if (push(write_fd, q.r[back], size))
			back++;
		else if (!pop(&q, read_fd, size, cookie))
			break;
	}
	free(q.r);
	return q.dropped;
}
