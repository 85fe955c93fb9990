/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See doorbell.h. The client sets a bit of a word, then the word's bit in the summary; here the
 * summary is cleared first. A bit that comes between is found now or announced anew.
 */
#include "doorbell.h"

static uint32_t take_word(struct uhca_abi_doorbell *d, uint32_t w,
			  void (*ring)(void *arg, uint32_t number), void *arg)
{
	uint64_t bits = __atomic_exchange_n(&d->word[w], 0, __ATOMIC_ACQUIRE);
	uint32_t n = 0;

	for (; bits; bits &= bits - 1, n++)
		ring(arg, w * 64 + (uint32_t)__builtin_ctzll(bits));
	return n;
}

uint32_t io_doorbell_take(struct uhca_abi_doorbell *d, uint32_t summaries,
			  void (*ring)(void *arg, uint32_t number), void *arg)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < summaries; i++) {
		uint64_t words;

		if (__atomic_load_n(&d->summary[i], __ATOMIC_RELAXED) == 0)
			continue;
		words = __atomic_exchange_n(&d->summary[i], 0, __ATOMIC_ACQUIRE);
		for (; words; words &= words - 1)
			n += take_word(d, i * 64 + (uint32_t)__builtin_ctzll(words), ring, arg);
	}
	return n;
}
