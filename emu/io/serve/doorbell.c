/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See doorbell.h. The client sets a bit of a word, then the word's bit in the summary; here the
 * summary is cleared first. A bit that comes between is found now or announced anew.
 *
 * First those whose place in the order is known, then what is left. A thread that finds its bit
 * not set has left its number before it rings the next doorbell: so of two that it rang one after
 * the other the first has its number in the order by the time the second's bit is seen. When a
 * ticket is new, or was taken and not used yet, what is left waits for another round. There are
 * only so many: a thread may be interrupted there, and a client may take tickets all the time.
 */
#include "doorbell.h"

#define ROUNDS 8

struct take {
	struct io_doorbell *bell;
	void (*ring)(void *arg, uint32_t number);
	void *arg;
	uint32_t n;
};

static bool is_new(const struct io_doorbell *b)
{
	return __atomic_load_n(&b->page->tickets, __ATOMIC_ACQUIRE) != b->ticket;
}

/* Rings those of the bits that are still set; they are cleared before the core looks. */
static void take_bits(struct take *t, uint32_t w, uint64_t bits)
{
	bits &= __atomic_fetch_and(&t->bell->page->word[w], ~bits, __ATOMIC_ACQUIRE);
	for (; bits; bits &= bits - 1, t->n++)
		t->ring(t->arg, w * 64 + (uint32_t)__builtin_ctzll(bits));
}

/* False when the ticket has not been used. */
static bool take_ticket(struct take *t, uint32_t ticket)
{
	const uint64_t *slot = &t->bell->page->order[ticket % UHCA_ABI_ORDER_SLOTS];
	uint64_t v = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	uint32_t n = (uint32_t)v;

	if ((uint32_t)(v >> 32) != ticket + 1)
		return false;
	if (n / (64 * 64) < t->bell->summaries)
		take_bits(t, n / 64, 1ull << (n % 64));
	return true;
}

/* More tickets than slots: what they were is lost. */
static void take_in_order(struct take *t, bool wait)
{
	struct io_doorbell *b = t->bell;
	uint32_t end = __atomic_load_n(&b->page->tickets, __ATOMIC_ACQUIRE);

	if (end - b->ticket > UHCA_ABI_ORDER_SLOTS)
		b->ticket = end;
	for (; b->ticket != end; b->ticket++)
		if (!take_ticket(t, b->ticket) && wait)
			return;
}

/* False when there is one whose place in the order may be known after all. */
static bool take_word(struct take *t, uint32_t w, bool wait)
{
	uint64_t bits = __atomic_load_n(&t->bell->page->word[w], __ATOMIC_ACQUIRE);

	if (!bits)
		return true;
	if (wait && is_new(t->bell))
		return false;
	take_bits(t, w, bits);
	return true;
}

static bool take_summary(struct take *t, uint32_t i, bool wait)
{
	uint64_t *summary = &t->bell->page->summary[i];
	uint64_t words;

	if (__atomic_load_n(summary, __ATOMIC_RELAXED) == 0)
		return true;
	words = __atomic_exchange_n(summary, 0, __ATOMIC_ACQUIRE);
	for (; words; words &= words - 1) {
		if (take_word(t, i * 64 + (uint32_t)__builtin_ctzll(words), wait))
			continue;
		__atomic_fetch_or(summary, words, __ATOMIC_RELEASE);
		return false;
	}
	return true;
}

static bool take_rest(struct take *t, bool wait)
{
	for (uint32_t i = 0; i < t->bell->summaries; i++)
		if (!take_summary(t, i, wait))
			return false;
	return true;
}

uint32_t io_doorbell_take(struct io_doorbell *b, void (*ring)(void *arg, uint32_t number),
			  void *arg)
{
	struct take t = {b, ring, arg, 0};

	if (!io_doorbell_pending(b))
		return 0;
	for (unsigned left = ROUNDS; left > 0; left--) {
		take_in_order(&t, left > 1);
		if (take_rest(&t, left > 1))
			break;
	}
	return t.n;
}
