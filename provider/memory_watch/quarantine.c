/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See quarantine.h. It is the program's memory and still there, so it is read as it is. Under the
 * lock nothing is called; what is taken out is looked at behind it.
 */
#include "quarantine.h"

#include "ranges.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define HELD    64u
#define BYTES   (32u << 20) /* of all */
#define LONGEST (4u << 20)  /* of one: each is summed up twice */
#define LOOKED  (64u << 10) /* of one that is looked at in between */

struct held {
	void *p; /* NULL: nothing */
	size_t size;
	uintptr_t from, to; /* the part that is registered */
	uint64_t sum;
	const void *mr;
	uint32_t number;
	const struct uhcav_stack *freed, *made;
	void (*end)(void *p);
};

pthread_mutex_t uhcav_quarantine_lock = PTHREAD_MUTEX_INITIALIZER;
static struct held held[HELD]; /* a ring: next is the oldest */
static unsigned next, turn;
static size_t bytes;
static atomic_uint n_held;

/* AddressSanitizer has a quarantine of its own, and must hear of frees at once. */
static bool has_own(void)
{
	static _Atomic int known; /* 0: it was not asked yet */
	int answer = atomic_load(&known);

	if (!answer) {
		answer = dlsym(RTLD_DEFAULT, "__asan_init") ? 1 : 2;
		atomic_store(&known, answer);
	}
	return answer == 1;
}

static __attribute__((no_sanitize("address", "thread"))) uint64_t sum_of(uintptr_t from,
									 uintptr_t to)
{
	uint64_t h = to - from, word;

	for (; to - from >= sizeof(word); from += sizeof(word)) {
		memcpy(&word, (const void *)from, sizeof(word));
		h = (h ^ word) * 0x9fb21c651e98df25ull;
		h ^= h >> 29;
	}
	for (; from < to; from++)
		h = (h ^ *(const uint8_t *)from) * 0x9fb21c651e98df25ull;
	return h ^ h >> 32;
}

static void look_at(const struct held *h)
{
	if (sum_of(h->from, h->to) == h->sum ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_MEMORY_FREED, h->freed, h->made))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_MEMORY_FREED,
			       "registered memory was written to after it was freed");
	uhcav_diagnostic_fact("%llu bytes at 0x%llx, of memory region 0x%x",
			      (unsigned long long)(h->to - h->from), (unsigned long long)h->from,
			      h->number);
	uhcav_diagnostic_fact("the region is open to remote writes: a peer has done it, or the "
			      "program itself");
	uhcav_diagnostic_stack(h->freed, "freed by");
	uhcav_diagnostic_stack(h->made, "memory region 0x%x registered by", h->number);
	uhcav_diagnostic_report();
}

static void let_go(const struct held *h)
{
	if (!h->p)
		return;
	look_at(h);
	h->end(h->p);
}

/* Under the lock. */
static struct held take_out(unsigned i)
{
	struct held h = held[i];

	held[i].p = NULL;
	if (h.p) {
		bytes -= h.size;
		atomic_fetch_sub(&n_held, 1);
	}
	return h;
}

/* Makes room for one of so many bytes, at the place of the oldest. False: not yet. */
static bool make_room(size_t size, struct held *oldest)
{
	*oldest = take_out(next);
	if (bytes + size <= BYTES)
		return true;
	next = (next + 1) % HELD;
	return false;
}

static void put_held(const struct held *h)
{
	struct held oldest;
	bool done = false;

	while (!done) {
		pthread_mutex_lock(&uhcav_quarantine_lock);
		done = make_room(h->size, &oldest);
		if (done) {
			held[next] = *h;
			next = (next + 1) % HELD;
			bytes += h->size;
			atomic_fetch_add(&n_held, 1);
		}
		pthread_mutex_unlock(&uhcav_quarantine_lock);
		let_go(&oldest);
	}
}

bool uhcav_quarantine_take(void *p, size_t size, const struct uhcav_stack *stack,
			   void (*end)(void *p))
{
	struct held h = {.p = p, .size = size, .freed = stack, .end = end};
	uintptr_t from = (uintptr_t)p, to = from + size;
	struct uhcav_range r;

	if (size > LONGEST || has_own() || !uhcav_ranges_target(from, to, &r))
		return false;
	h.from = r.from > from ? r.from : from;
	h.to = r.to < to ? r.to : to;
	h.sum = sum_of(h.from, h.to);
	h.mr = r.mr;
	h.number = r.number;
	h.made = r.made;
	put_held(&h);
	return true;
}

void uhcav_quarantine_look(void)
{
	struct held h;

	if (!atomic_load_explicit(&n_held, memory_order_relaxed))
		return;
	pthread_mutex_lock(&uhcav_quarantine_lock);
	turn = (turn + 1) % HELD;
	for (unsigned i = 0; i < HELD && !held[turn].p; i++)
		turn = (turn + 1) % HELD;
	h = held[turn];
	/* Nobody frees it meanwhile: it is summed under the lock. */
	if (h.p && (h.size > LOOKED || sum_of(h.from, h.to) == h.sum))
		h.p = NULL;
	if (h.p)
		h = take_out(turn);
	pthread_mutex_unlock(&uhcav_quarantine_lock);
	let_go(&h);
}

void uhcav_quarantine_end(const void *mr)
{
	if (!atomic_load(&n_held))
		return;
	for (unsigned i = 0; i < HELD; i++) {
		struct held h = {.p = NULL};
		pthread_mutex_lock(&uhcav_quarantine_lock);
		if (!mr || held[i].mr == mr)
			h = take_out(i);
		pthread_mutex_unlock(&uhcav_quarantine_lock);
		let_go(&h);
	}
}
