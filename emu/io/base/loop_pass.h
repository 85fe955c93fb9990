/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the passes of a loop take: the longest one by the clock, which includes time in which
 * other programs had the processor, and the longest one in processor time of the thread. The
 * latter needs a system call (CLOCK_THREAD_CPUTIME_ID), so it is read once in PASS_SAMPLE at the
 * most where passes are short, and at the end of each pass that may be the longest so far. What is
 * told is never less than the truth, and at most PASS_SAMPLE more. Of the latter the kind of work
 * is known that most of it was, by the clock. Owner: the loop that has it.
 */
#ifndef IO_LOOP_PASS_H
#define IO_LOOP_PASS_H

#include "clock.h"

#include <stdbool.h>

#define PASS_SAMPLE (100 * IO_USEC)

struct io_loop_pass {
	uint64_t longest;         /* ns */
	uint64_t longest_cpu;     /* ns */
	uint64_t began;           /* this pass; 0: none has begun */
	uint64_t sampled;         /* when the processor time was read last; 0: never */
	uint64_t cpu;             /* what it was */
	uint64_t did;             /* when the part of this pass began that goes on */
	uint64_t part;            /* ns of its longest part so far, and */
	const char *kind;         /* what that was; NULL: nobody said */
	const char *longest_kind; /* of the pass of longest_cpu; NULL likewise */
};

/* A pass begins; now: ns of io_clock_now(). */
void io_loop_pass_begin(struct io_loop_pass *t, uint64_t now);

/*
 * What was done since the pass began, or since the last call of this, was work of this kind (static
 * text); of no pass when none has begun. Returns io_clock_now(). One thread has passes.
 */
uint64_t io_loop_pass_did(const char *kind);

/* It ends. Harmless when none has begun. */
void io_loop_pass_end(struct io_loop_pass *t, uint64_t now);

#endif
