/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pieces of memory that daemon and client share, each a sealed memfd made by the daemon:
 *
 *   status page   one per daemon, clients map it read-only: does the daemon sleep?
 *   doorbell page one per client: which queues have new work
 *   active        one: which of the clients rang that are seldom looked at
 *   queue region  one per QP, SRQ and CQ: rings, entries, inline data
 *   counter       one per completion counter, clients map it read-only: its two values
 *
 * Every region but the active doorbells begins with the same header; version first. Offsets, never
 * pointers. The daemon trusts nothing it reads here: sizes and offsets are for the client's use,
 * the daemon works with its own copies (design D6).
 */
#ifndef UHCA_ABI_REGION_H
#define UHCA_ABI_REGION_H

#include "ring.h"

#include <assert.h>
#include <stdint.h>

#define UHCA_ABI_VERSION 6u
#define UHCA_ABI_MAGIC   0x61636875u /* "uhca" */

enum {
	UHCA_ABI_REGION_STATUS = 1,
	UHCA_ABI_REGION_DOORBELL = 2,
	UHCA_ABI_REGION_QP = 3,
	UHCA_ABI_REGION_SRQ = 4,
	UHCA_ABI_REGION_CQ = 5,
	UHCA_ABI_REGION_COMP_CNTR = 6,
};

struct uhca_abi_region {
	uint32_t magic;
	uint32_t version;
	uint32_t kind;
	uint32_t reserved;
	uint64_t size; /* bytes of the whole region */
};
static_assert(sizeof(struct uhca_abi_region) == 24, "region header");

/*
 * Status page: written by the daemon only; clients hold it without write permission. post_faults
 * stands in a line that hardly ever changes.
 */
struct uhca_abi_status {
	struct uhca_abi_region region;
	uint8_t pad0[40];
	uint32_t post_faults; /* 1: ask before posting (cmd_fault.h) */
	uint32_t hears;       /* 1: wants to be told of refused calls (REFUSED) */
	uint8_t pad3[56];
	uint32_t need_wakeup; /* 1: the daemon sleeps or is about to; ring your event fd */
	uint32_t pad1;
	uint64_t epoch; /* changes with each daemon start */
	uint8_t pad2[3952];
};
static_assert(sizeof(struct uhca_abi_status) == 4096, "one page");

/*
 * Doorbells: a two-level bitmap, so that any number of threads can ring without a lock, twice
 * counts once, and a wrong bit costs a look at nothing. Bit b of word[w] is doorbell 64 w + b;
 * bit w % 64 of summary[w / 64] says that word[w] is not zero. A client sets the word first, then
 * the summary; the daemon clears the summary first.
 *
 * In which order they rang is told beside it: who sets a bit that was not set takes the next ticket
 * and leaves the number in slot ticket % ORDER_SLOTS, before it sets the summary. The bits are what
 * counts: a number whose bit is not set means nothing, and a bit without a number (more rang than
 * there are slots, a thread was interrupted between the two) is served all the same. The daemon
 * makes a number UINT32_MAX that it has looked at while an earlier ticket is not used yet.
 *
 * active_number: written by the daemon. 0: it looks here whenever it is awake. Else one more than
 *   the client's number among the active doorbells, where it is to say that it rang.
 */
#define UHCA_ABI_DOORBELL_WORDS 4096u
#define UHCA_ABI_DOORBELL_MAX   (UHCA_ABI_DOORBELL_WORDS * 64u)
#define UHCA_ABI_ORDER_SLOTS    1024u

struct uhca_abi_doorbell {
	struct uhca_abi_region region;
	uint8_t pad0[40];
	uint32_t active_number;
	uint8_t pad3[60];
	uint64_t summary[UHCA_ABI_DOORBELL_WORDS / 64];
	uint64_t word[UHCA_ABI_DOORBELL_WORDS];
	uint32_t tickets; /* taken so far; runs over */
	uint8_t pad1[124];
	uint64_t order[UHCA_ABI_ORDER_SLOTS]; /* ticket + 1 in the upper half, then the number */
	uint8_t pad2[3328];
};
static_assert(sizeof(struct uhca_abi_doorbell) == 45056, "eleven pages");

static inline void uhca_doorbell_set(struct uhca_abi_doorbell *d, uint32_t n)
{
	uint32_t w = n / 64;
	uint64_t bit = 1ull << (n % 64);

	if (!(__atomic_fetch_or(&d->word[w], bit, __ATOMIC_RELEASE) & bit)) {
		uint32_t t = __atomic_fetch_add(&d->tickets, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&d->order[t % UHCA_ABI_ORDER_SLOTS], (uint64_t)(t + 1) << 32 | n,
				 __ATOMIC_RELEASE);
	}
	__atomic_fetch_or(&d->summary[w / 64], 1ull << (w % 64), __ATOMIC_RELEASE);
}

/*
 * Callers: a two-level bitmap of clients, so that one that is quiet costs the daemon nothing. Bit c
 * of word[w] is client 64 w + c, bit w of summary says that word[w] is not zero; the daemon clears
 * the summary first. All clients write here and may write what they like: a bit too many costs a
 * look at nothing, and a bit that another client took away makes the daemon come late, but come.
 * There is no header that one could spoil for the next.
 */
#define UHCA_ABI_ACTIVE_DOORBELLS 4096u

struct uhca_abi_active_doorbells {
	uint64_t summary;
	uint8_t pad0[56];
	uint64_t word[UHCA_ABI_ACTIVE_DOORBELLS / 64];
	uint8_t pad1[3520];
};
static_assert(sizeof(struct uhca_abi_active_doorbells) == 4096, "one page");

/*
 * What follows a ring of doorbells, and goes before a look at need_wakeup. The fences are the other
 * half of the daemon's: between saying "ring the active doorbell", or "I sleep", and its last look.
 */
static inline void uhca_doorbell_set_active(const struct uhca_abi_doorbell *d,
					    struct uhca_abi_active_doorbells *active)
{
	uint32_t n;

	uhca_ring_fence();
	n = __atomic_load_n(&d->active_number, __ATOMIC_RELAXED) - 1;
	if (__builtin_expect(n >= UHCA_ABI_ACTIVE_DOORBELLS, 1))
		return;
	__atomic_fetch_or(&active->word[n / 64], 1ull << (n % 64), __ATOMIC_RELEASE);
	__atomic_fetch_or(&active->summary, 1ull << (n / 64), __ATOMIC_RELEASE);
	uhca_ring_fence();
}

/*
 * Queue region of a QP or SRQ. The first page holds this; entries follow at the offsets that the
 * create reply gave. For an SRQ only recv is used.
 *
 * send.producer, recv.producer: written by the client after the entries they cover.
 * send.consumer: written by the device when it has retired the work request (its slot and its
 *   inline data are free), recv.consumer when it has copied the receive request.
 * recv.abandoned: of an SRQ, written by the device; receive requests that it has taken and will
 *   never complete, because their QP was reset or destroyed in the middle of a message.
 * recv_doorbell: written by the device; 1 means "ring after posting receives", because the QP is
 *   in a state in which a receive is completed at once (ERR: flush).
 * async_events: written by the device; records about this object that went into the channel. After
 *   the destroy the client knows from it how many it has still to read or to acknowledge.
 */
struct uhca_abi_queue {
	struct uhca_abi_region region;
	uint32_t recv_doorbell;
	uint32_t async_events;
	uint8_t pad0[96];
	struct uhca_abi_ring send;
	struct uhca_abi_ring recv;
	uint8_t pad1[3456];
};
static_assert(sizeof(struct uhca_abi_queue) == 4096, "one page");

/* Arm word of a CQ: bits the client sets (fetch-or) and the device takes (exchange with 0). */
#define UHCA_ABI_ARM_SOLICITED 1u
#define UHCA_ABI_ARM_NEXT      2u

/*
 * Queue region of a CQ: ring.producer is written by the device (for looking at; pollers use the
 * sequence in each entry), ring.consumer by the client after it has taken entries. async_events and
 * comp_events as async_events of a queue.
 *
 * event_index: written by the device; entries below this index were there when an event was raised.
 * notify_unread: written by the device; 1 means "send NOTIFY_CQ when you arm and entries from
 *   event_index on are not taken that would have raised an event".
 * ring.handled: written by the client; of the completions with payload (cqe.h) that it took so
 *   far, how many the program behind it is believed to be done with. One more with each poll that
 *   finds nothing, and all with an arming: who asks for more is done with something, who goes to
 *   sleep with everything. Never more than UHCA_ABI_UNHANDLED_MAX behind.
 * ring.reports_handled: 1 from a client that does so; nothing is held back from others.
 * ring.takes_copies_on_poll: 1 from a client that copies payload when it takes a completion
 *   (copy_on_poll.h).
 */
#define UHCA_ABI_UNHANDLED_MAX 1024u

struct uhca_abi_cq {
	struct uhca_abi_region region;
	uint32_t comp_events;
	uint32_t async_events;
	uint32_t event_index;
	uint32_t notify_unread;
	uint8_t pad0[88];
	uint32_t arm;
	uint8_t pad1[124];
	struct uhca_abi_ring ring;
	uint8_t pad2[3584];
};
static_assert(sizeof(struct uhca_abi_cq) == 4096, "one page");

/* A completion counter; both values are written by the device alone. */
struct uhca_abi_comp_cntr {
	struct uhca_abi_region region;
	uint8_t pad0[40];
	uint64_t completions;
	uint64_t errors;
	uint8_t pad1[4016];
};
static_assert(sizeof(struct uhca_abi_comp_cntr) == 4096, "one page");

#endif
