/* SPDX-License-Identifier: BSD-2-Clause */
/* A queue of records for a channel: add, find and remove at constant cost. */
#include "record_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 64u
#define RECORD        16u

struct record_node {
	TAILQ_ENTRY(record_node) link;
	LIST_ENTRY(record_node) of_bucket;
	uint8_t bytes[RECORD];
};

void record_queue_init(struct io_record_queue *q, size_t size)
{
	*q = (struct io_record_queue){.size = size};
	TAILQ_INIT(&q->line);
}

/* Where the buckets lie is what a client, who chooses the bytes, does not know. */
static struct record_bucket *bucket_of(const struct io_record_queue *q, const void *first)
{
	uint64_t h;

	memcpy(&h, first, sizeof(h));
	h = (h ^ (uintptr_t)q->bucket) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return &q->bucket[(h >> 32) & (q->n_buckets - 1)];
}

static int grow(struct io_record_queue *q)
{
	size_t n = q->n_buckets ? 2 * q->n_buckets : FIRST_BUCKETS;
	struct record_bucket *bucket = calloc(n, sizeof(*bucket));
	struct record_node *r;

	if (!bucket)
		return -ENOMEM;
	free(q->bucket);
	q->bucket = bucket;
	q->n_buckets = n;
	TAILQ_FOREACH(r, &q->line, link)
	{
		LIST_INSERT_HEAD(bucket_of(q, r->bytes), r, of_bucket);
	}
	return 0;
}

static void drop(struct io_record_queue *q, struct record_node *r)
{
	TAILQ_REMOVE(&q->line, r, link);
	LIST_REMOVE(r, of_bucket);
	q->n--;
	free(r);
}

void record_queue_clear(struct io_record_queue *q)
{
	struct record_node *r;

	while ((r = TAILQ_FIRST(&q->line)))
		drop(q, r);
	free(q->bucket);
	q->bucket = NULL;
	q->n_buckets = 0;
}

struct io_record_queue *record_queue_detach(struct io_record_queue *q)
{
	struct io_record_queue *all = malloc(sizeof(*all));

	if (!all)
		return NULL;
	*all = *q;
	TAILQ_INIT(&all->line);
	TAILQ_CONCAT(&all->line, &q->line, link);
	record_queue_init(q, q->size);
	return all;
}

int record_queue_add(struct io_record_queue *q, const void *record)
{
	struct record_node *r;

	if (q->n >= q->n_buckets && grow(q) < 0)
		return -ENOMEM;
	LIST_FOREACH(r, bucket_of(q, record), of_bucket)
	{
		if (memcmp(r->bytes, record, q->size) == 0)
			return -EEXIST;
	}
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	memcpy(r->bytes, record, q->size);
	TAILQ_INSERT_TAIL(&q->line, r, link);
	LIST_INSERT_HEAD(bucket_of(q, record), r, of_bucket);
	q->n++;
	return 0;
}

const void *record_queue_first(const struct io_record_queue *q)
{
	return TAILQ_EMPTY(&q->line) ? NULL : TAILQ_FIRST(&q->line)->bytes;
}

void record_queue_drop_first(struct io_record_queue *q)
{
	drop(q, TAILQ_FIRST(&q->line));
}

uint32_t record_queue_purge(struct io_record_queue *q, uint64_t first)
{
	struct record_node *r, *next;
	uint32_t n = 0;

	if (!q->n_buckets)
		return 0;
	for (r = LIST_FIRST(bucket_of(q, &first)); r; r = next) {
		next = LIST_NEXT(r, of_bucket);
		if (memcmp(r->bytes, &first, sizeof(first)) != 0)
			continue;
		drop(q, r);
		n++;
	}
	return n;
}
