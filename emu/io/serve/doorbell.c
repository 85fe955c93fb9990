/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See doorbell.h. The client sets a bit of a word, then the word's bit in the summary; here the
 * summary is cleared first. A bit that comes between is found now or announced anew.
 *
 * First those whose place in the order is known, then what is left. A thread that finds its bit
 * not set has left its number before it rings the next doorbell: so of two that it rang one after
 * the other the first has its number in the order by the time the second's bit is seen. What is
 * left is therefore taken when a look at the order that began after its bit was seen found nothing.
 * Its ticket comes late then, perhaps when the doorbell has been rung once more, behind others:
 * such a ticket means nothing. Where the number of a ticket was lost it never comes, and the next
 * one of that doorbell is taken for it, time after time: until that has been so some times in a
 * row.
 *
 * A ticket that was taken and not used yet (its thread is in the midst of ringing, or was
 * interrupted there) holds up nobody else: it is looked at again, and those behind it that were
 * used are marked, as they count once. A look ends after so many tickets, because a client may take
 * them all the time; what is left then waits for the next one.
 */
#include "doorbell.h"

#define TICKETS_MAX (2 * UHCA_ABI_ORDER_SLOTS)
#define AGAIN_MAX   8

struct take {
	struct io_doorbell *bell;
	void (*ring)(void *arg, uint32_t number);
	void *arg;
	uint32_t n;
	uint32_t tickets;     /* looked at */
	bool lost;            /* the numbers of some */
	struct io_early came; /* the last whose ticket was seen */
};

/* Clears those of the bits that are set, before the core looks. */
static uint64_t clear(struct take *t, uint32_t w, uint64_t bits)
{
	return bits & __atomic_fetch_and(&t->bell->page->word[w], ~bits, __ATOMIC_ACQUIRE);
}

static void ring_it(struct take *t, uint32_t number)
{
	t->ring(t->arg, number);
	t->n++;
}

/* Its doorbell was served before this ticket came. */
static bool was_early(struct take *t, uint32_t number)
{
	struct io_doorbell *b = t->bell;

	for (uint32_t i = 0; i < b->n_early; i++)
		if (b->early[i].number == number) {
			t->came = b->early[i];
			b->early[i] = b->early[--b->n_early];
			return true;
		}
	return false;
}

static void note_early(struct take *t, uint32_t number)
{
	struct io_doorbell *b = t->bell;
	uint32_t again = t->came.number == number ? t->came.again + 1 : 0;

	if (t->lost || again > AGAIN_MAX)
		return;
	if (b->n_early == IO_DOORBELL_EARLY)
		b->n_early = 0;
	b->early[b->n_early++] = (struct io_early){number, again};
}

static void take_early(struct take *t, uint32_t w, uint64_t bits)
{
	for (bits = clear(t, w, bits); bits; bits &= bits - 1) {
		uint32_t number = w * 64 + (uint32_t)__builtin_ctzll(bits);

		note_early(t, number);
		ring_it(t, number);
	}
}

static void take_number(struct take *t, uint32_t number)
{
	if (number / (64 * 64) < t->bell->summaries && !was_early(t, number) &&
	    clear(t, number / 64, 1ull << (number % 64)))
		ring_it(t, number);
}

/* False when the ticket has not been used. With a later one in its slot its number is lost. */
static bool take_ticket(struct take *t, uint32_t ticket, bool mark)
{
	uint64_t *slot = &t->bell->page->order[ticket % UHCA_ABI_ORDER_SLOTS];
	uint64_t v = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	uint32_t stamp = (uint32_t)(v >> 32);
	bool later = (int32_t)(stamp - ticket) > 1;

	t->lost |= later;
	if (stamp != ticket + 1)
		return later;
	take_number(t, (uint32_t)v);
	if (mark)
		__atomic_compare_exchange_n(slot, &v, v | UINT32_MAX, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	return true;
}

static void take_in_order(struct take *t)
{
	struct io_doorbell *b = t->bell;
	uint32_t end = __atomic_load_n(&b->page->tickets, __ATOMIC_ACQUIRE);
	bool gap = false;

	if (end - b->ticket > UHCA_ABI_ORDER_SLOTS) {
		b->ticket = end - UHCA_ABI_ORDER_SLOTS;
		t->lost = true;
	}
	t->tickets += end - b->ticket;
	for (uint32_t i = b->ticket; i != end; i++) {
		gap |= !take_ticket(t, i, gap);
		if (!gap)
			b->ticket = i + 1;
	}
}

/* False when it waits for the next look. */
static bool take_word(struct take *t, uint32_t w)
{
	uint64_t bits;
	uint32_t before;

	do {
		bits = __atomic_load_n(&t->bell->page->word[w], __ATOMIC_ACQUIRE);
		if (!bits)
			return true;
		if (t->tickets >= TICKETS_MAX)
			return false;
		before = t->n;
		take_in_order(t);
	} while (t->n != before);
	take_early(t, w, bits);
	return true;
}

static bool take_summary(struct take *t, uint32_t i)
{
	uint64_t *summary = &t->bell->page->summary[i];
	uint64_t words;

	if (__atomic_load_n(summary, __ATOMIC_RELAXED) == 0)
		return true;
	words = __atomic_exchange_n(summary, 0, __ATOMIC_ACQUIRE);
	for (; words; words &= words - 1) {
		if (take_word(t, i * 64 + (uint32_t)__builtin_ctzll(words)))
			continue;
		__atomic_fetch_or(summary, words, __ATOMIC_RELEASE);
		return false;
	}
	return true;
}

uint32_t io_doorbell_take(struct io_doorbell *b, void (*ring)(void *arg, uint32_t number),
			  void *arg)
{
	struct take t = {.bell = b, .ring = ring, .arg = arg, .came = {.number = UINT32_MAX}};

	if (!io_doorbell_pending(b))
		return 0;
	take_in_order(&t);
	for (uint32_t i = 0; i < b->summaries; i++)
		if (!take_summary(&t, i))
			break;
	return t.n;
}
