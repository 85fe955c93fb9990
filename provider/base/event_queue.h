/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our end of an event channel: a socket pair with a queue of records inside (emu/abi/event.h),
 * which the daemon writes and the application reads.
 *
 * The records name objects by address, so a destroy must take back those the application has not
 * read yet, as the kernel does: one that stayed would make ibv_get_cq_event follow a dangling
 * pointer. And when the daemon has died we write events ourselves.
 *
 * What does not fit into the socket waits in a backlog until the application has read something;
 * then libibverbs calls the provider, and the provider calls uhcav_event_queue_refill.
 */
#ifndef UHCAV_EVENT_QUEUE_H
#define UHCAV_EVENT_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest record of a channel. */
#define UHCAV_EVENT_MAX 16

struct uhcav_event_queue {
	int read_fd;  /* the application's end; not ours to close */
	int write_fd; /* a copy of the daemon's end; -1: nothing can be put */
	size_t size;  /* of a record, 8 to UHCAV_EVENT_MAX; the first eight bytes name the object */
	pthread_mutex_t lock;
	uint8_t (*waiting)[UHCAV_EVENT_MAX]; /* the backlog, oldest first */
	unsigned room;
	unsigned n; /* written under lock, read without */
};

void uhcav_event_queue_construct(struct uhcav_event_queue *q, int read_fd, int write_fd,
				 size_t size);

/* Frees the backlog; closes nothing. */
void uhcav_event_queue_destruct(struct uhcav_event_queue *q);

/* One record for the application. Any thread; never waits for the reader. */
void uhcav_event_queue_put(struct uhcav_event_queue *q, const void *record);

/* The application has read something: moves what waits into the socket. Any thread. */
void uhcav_event_queue_refill(struct uhcav_event_queue *q);

/*
 * Drops the unread records of an object; the others keep their order, and none is lost. Returns
 * the number dropped. Any thread; never waits for the reader.
 */
unsigned uhcav_event_queue_purge(struct uhcav_event_queue *q, uint64_t cookie);

/*
 * Does a destroyed object's last reader hold an event? sent is what the device wrote to the
 * object's region, dropped what a purge took back; the rest the application has read, though the
 * provider may not have been told yet (libibverbs reads first), and must acknowledge. read is what
 * the provider was told, which counts when the device is not there to say.
 */
static inline bool uhcav_events_held(uint32_t sent, uint32_t dropped, uint32_t read, uint32_t acked)
{
	return acked != read || (int32_t)(sent - dropped - acked) > 0;
}

#endif
