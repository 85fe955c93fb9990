/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that wait for a reader, oldest first, each once. To add one, to see whether it is there
 * already, and to take one back costs the same however many wait. Owner: a channel.
 */
#ifndef IO_RECORD_QUEUE_H
#define IO_RECORD_QUEUE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct record_node;

LIST_HEAD(record_bucket, record_node);

struct io_record_queue {
	size_t size; /* bytes of a record: 8 to 16 */
	size_t n;
	TAILQ_HEAD(record_line, record_node) line;
	struct record_bucket *bucket; /* by the first eight bytes */
	size_t n_buckets;             /* a power of two; 0: nothing has waited yet */
};

void record_queue_init(struct io_record_queue *q, size_t size);
void record_queue_clear(struct io_record_queue *q);

/* All that waits, in a queue of its own that the caller clears and frees; NULL without memory. */
struct io_record_queue *record_queue_detach(struct io_record_queue *q);

/* 0; -EEXIST: an equal one waits; -ENOMEM. */
int record_queue_add(struct io_record_queue *q, const void *record);

/* The oldest, NULL where none waits; and it waits no longer. */
const void *record_queue_first(const struct io_record_queue *q);
void record_queue_drop_first(struct io_record_queue *q);

/* Those whose first eight bytes are these wait no longer: how many they were. */
uint32_t record_queue_purge(struct io_record_queue *q, uint64_t first);

#endif
