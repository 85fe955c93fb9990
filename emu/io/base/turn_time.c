/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures the longest turn of the loop, by the clock and in processor time. */
#include "turn_time.h"

#include <stddef.h>

static struct io_turn_time *running; /* the turn; NULL: none */

static void sample(struct io_turn_time *t, uint64_t now)
{
	t->sampled = now;
	t->cpu = io_clock_thread();
}

void io_turn_begin(struct io_turn_time *t, uint64_t now)
{
	t->began = t->did = now;
	t->part = 0;
	t->kind = NULL;
	running = t;
	if (!t->sampled || now - t->sampled > TURN_SAMPLE)
		sample(t, now);
}

/*
 * Of a short turn its length is enough to know: no more processor time than that. Of a long one the
 * sample may be older than the turn, but by no more than TURN_SAMPLE.
 */
static uint64_t processor_time(struct io_turn_time *t, uint64_t now, uint64_t length)
{
	uint64_t before = t->cpu, used;

	if (length <= TURN_SAMPLE)
		return length;
	sample(t, now);
	used = t->cpu - before;
	return used < length ? used : length;
}

uint64_t io_turn_did(const char *kind)
{
	uint64_t now = io_clock_now();

	if (!running)
		return now;
	if (now - running->did > running->part) {
		running->part = now - running->did;
		running->kind = kind;
	}
	running->did = now;
	return now;
}

void io_turn_end(struct io_turn_time *t, uint64_t now)
{
	uint64_t length = t->began ? now - t->began : 0, used;

	t->began = 0;
	running = NULL;
	if (length > t->longest)
		t->longest = length;
	if (length <= t->longest_cpu)
		return;
	used = processor_time(t, now, length);
	if (used <= t->longest_cpu)
		return;
	t->longest_cpu = used;
	t->longest_kind = t->kind;
}
