/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals that wait for their reader. A signal is what librdmacm's rsockets say when one is shut
 * down: an RDMA WRITE without payload whose immediate data says "disconnect" or "shutdown". They
 * believe it before they have read what came before it. Hardware is slower than such a reader; here
 * reader, sender and device may take turns on one processor, and the reader finds message and
 * signal together. No other program gets anything held back: the value and the shape of the QP must
 * be theirs (config.strict_order: nothing at all). So a signal stays out of the ring until the
 * program has handled what it had before, as far as its library can tell (ring.handled,
 * abi/region.h), and receives of the same QP stay behind it. Everything else passes: sends, which
 * give their slots back before they complete, must not be missing when the daemon dies, and nobody
 * orders them or other QPs against the signal.
 *
 * Nothing is held back from who sleeps or is about to (the CQ is armed), from a CQ that ignores
 * overruns, and from who has had no payload. Only the completion waits: the packet is acknowledged.
 */
#ifndef CORE_DEFERRED_COMPLETION_H
#define CORE_DEFERRED_COMPLETION_H

#include "emu/abi/cqe.h"
#include "emu/core/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct cq;

#define DEFERRED_COMPLETION_MAX 8u /* one more, and all enter the ring */

/*
 * After so long a signal is shown however many of the completions that the reader took it has not
 * handled. Longer than the scheduler keeps a reader away that it has interrupted, with tens of
 * others waiting for its processor; short enough for one that looks now and then and will never
 * have looked often enough.
 */
#define DEFERRED_COMPLETION_NS (100 * 1000 * 1000ull)

/* The same while there are completions before it that the reader has not even taken. */
#define DEFERRED_COMPLETION_UNREAD_NS (1000 * 1000 * 1000ull)

struct deferred_completion {
	uint32_t n; /* held back, oldest first; the first is a signal */
	struct uhca_abi_cqe cqe[DEFERRED_COMPLETION_MAX];
	uint32_t payloads;  /* completions with payload that entered the ring so far */
	uint32_t waits_for; /* how many of them are to be handled */
	uint32_t before;    /* the ring's producer index when the first was held back */
	uint64_t since;     /* then */
	uint64_t all_taken; /* when the reader was seen to have taken those before; 0: it has not */
	struct timer timer; /* the next look */
};

/* Is this completion held back? It has room in the ring then. */
bool deferred_completion_take(struct cq *cq, const struct uhca_abi_cqe *e);

/* Is something of this QP held back? */
bool deferred_completion_has(const struct cq *cq, uint32_t qpn);

/* All that is held back enters the ring now. */
void deferred_completion_release(struct cq *cq);

#endif
