/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of rdma_cm ids and of joins: the smallest free one, as the kernel's, since librdmacm
 * keeps a table by them. Those that came back are a heap.
 */
#include "ucma_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int grow(struct ucma_numbers *t)
{
	uint32_t size = t->size ? 2 * t->size : 64;
	void **slot = realloc(t->slot, size * sizeof(*slot));
	uint32_t *heap;

	if (!slot)
		return -ENOMEM;
	t->slot = slot;
	heap = realloc(t->free, size * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	t->free = heap;
	memset(slot + t->size, 0, (size - t->size) * sizeof(*slot));
	t->size = size;
	return 0;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t before = *a;

	*a = *b;
	*b = before;
}

static void push(struct ucma_numbers *t, uint32_t number)
{
	uint32_t i = t->n_free++;

	t->free[i] = number;
	for (; i > 0 && t->free[i] < t->free[(i - 1) / 2]; i = (i - 1) / 2)
		swap(&t->free[i], &t->free[(i - 1) / 2]);
}

static uint32_t pop(struct ucma_numbers *t)
{
	uint32_t smallest = t->free[0], i = 0, child;

	t->free[0] = t->free[--t->n_free];
	while ((child = 2 * i + 1) < t->n_free) {
		if (child + 1 < t->n_free && t->free[child + 1] < t->free[child])
			child++;
		if (t->free[i] <= t->free[child])
			break;
		swap(&t->free[i], &t->free[child]);
		i = child;
	}
	return smallest;
}

int ucma_number_take(struct ucma_owner *o, void *object, uint32_t *number)
{
	struct ucma_numbers *t = &o->ucma->numbers;

	if (!ucma_is_fair(o->numbers, t->used_once - t->n_free, UCMA_NUMBERS))
		return -ENOMEM;
	if (!t->n_free && t->used_once == t->size && grow(t) < 0)
		return -ENOMEM;
	*number = t->n_free ? pop(t) : t->used_once++;
	t->slot[*number] = object;
	o->numbers++;
	return 0;
}

void ucma_number_release(struct ucma_owner *o, uint32_t number)
{
	struct ucma_numbers *t = &o->ucma->numbers;

	t->slot[number] = NULL;
	o->numbers--;
	push(t, number);
}

void *ucma_number_find(const struct io_ucma *u, uint32_t number)
{
	return number < u->numbers.used_once ? u->numbers.slot[number] : NULL;
}
