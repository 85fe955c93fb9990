/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures the longest pass of the loop, by the clock and in processor time. */
#include "loop_pass.h"

#include <stddef.h>

static struct io_loop_pass *running; /* the pass; NULL: none */

static void sample(struct io_loop_pass *t, uint64_t now)
{
	t->sampled = now;
	t->cpu = io_clock_thread();
}

void io_loop_pass_begin(struct io_loop_pass *t, uint64_t now)
{
	t->began = t->did = now;
	t->part = 0;
	t->kind = NULL;
	running = t;
	if (!t->sampled || now - t->sampled > PASS_SAMPLE)
		sample(t, now);
}

/*
 * Of a short pass its length is enough to know: no more processor time than that. Of a long one the
 * sample may be older than the pass, but by no more than PASS_SAMPLE.
 */
static uint64_t processor_time(struct io_loop_pass *t, uint64_t now, uint64_t length)
{
	uint64_t before = t->cpu, used;

	if (length <= PASS_SAMPLE)
		return length;
	sample(t, now);
	used = t->cpu - before;
	return used < length ? used : length;
}

uint64_t io_loop_pass_did(const char *kind)
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

void io_loop_pass_end(struct io_loop_pass *t, uint64_t now)
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
