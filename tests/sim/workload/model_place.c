/* SPDX-License-Identifier: BSD-2-Clause */
/* See model.h: bytes that stand in pieces. */
#include "model.h"

#include <string.h>

/* The part of piece i that the next n bytes take. */
static uint32_t part(const struct model_place *at, uint32_t i, uint32_t n)
{
	return at->piece[i].length < n ? at->piece[i].length : n;
}

void model_load(struct memory *m, const struct model_place *at, void *buf, uint32_t n)
{
	uint8_t *p = buf;

	for (uint32_t i = 0, k; i < at->n && n; i++, p += k, n -= k) {
		k = part(at, i, n);
		if (k)
			memcpy(p, memory_at(m, at->piece[i].addr, k), k);
	}
}

void model_load_expected(struct memory *m, const struct model_place *at, void *buf, uint32_t n)
{
	uint8_t *p = buf;

	for (uint32_t i = 0, k; i < at->n && n; i++, p += k, n -= k) {
		k = part(at, i, n);
		if (k)
			memcpy(p, memory_expected(m, at->piece[i].addr, k), k);
	}
}

void model_expect(struct memory *m, const struct model_place *at, const void *bytes, uint32_t n)
{
	const uint8_t *p = bytes;

	for (uint32_t i = 0, k; i < at->n && n; i++, p += k, n -= k) {
		k = part(at, i, n);
		if (k)
			memory_expect(m, at->piece[i].addr, p, k);
	}
}

void model_ignore(struct memory *m, const struct model_place *at)
{
	for (uint32_t i = 0; i < at->n; i++)
		if (at->piece[i].length)
			memory_ignore(m, at->piece[i].addr, at->piece[i].length, true);
}

bool model_holds(struct memory *m, const struct model_place *at, uint32_t skip, const void *bytes,
		 uint32_t n)
{
	const uint8_t *p = bytes;

	for (uint32_t i = 0; i < at->n && n; i++) {
		uint32_t length = at->piece[i].length, over = skip < length ? skip : length;
		uint32_t k = length - over < n ? length - over : n;

		skip -= over;
		if (k && memcmp(memory_at(m, at->piece[i].addr + over, k), p, k))
			return false;
		p += k;
		n -= k;
	}
	return n == 0;
}

bool model_overlap(const struct model_place *a, const struct model_place *b)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++) {
			const struct uhca_abi_sge *x = &a->piece[i], *y = &b->piece[k];

			if (x->addr < y->addr + y->length && y->addr < x->addr + x->length)
				return true;
		}
	return false;
}
