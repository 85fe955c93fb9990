/* SPDX-License-Identifier: BSD-2-Clause */
/* Intrusive doubly linked list with a head that links to itself. */
#ifndef CORE_LIST_H
#define CORE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *prev, *next;
};

static inline void list_init(struct list *l)
{
	l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

/* Adds e at the end of the list whose head is l. */
static inline void list_append(struct list *l, struct list *e)
{
	e->prev = l->prev;
	e->next = l;
	l->prev->next = e;
	l->prev = e;
}

/* Takes e out and leaves it linked to itself, so that removing twice is harmless. */
static inline void list_remove(struct list *e)
{
	e->prev->next = e->next;
	e->next->prev = e->prev;
	list_init(e);
}

#define list_entry(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#endif
