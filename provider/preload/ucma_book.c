/* SPDX-License-Identifier: BSD-2-Clause */
/* See ucma_book.h. Ids are few or come in rows, and are looked for rarely: one array does. */
#include "ucma_book.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

struct entry {
	uint64_t file;
	uint64_t uid;
	uint32_t id;
	uint32_t events;
	uint32_t owner; /* of a group: its id */
	bool is_group, has_device, removed;
};

static struct entry *book;
static unsigned n_entries, n_room;
static int holder; /* process that has the book; a forked one does not wait for its parent's */

static void lock(void)
{
	int self = (int)getpid();

	for (;;) {
		int who = 0;

		if (__atomic_compare_exchange_n(&holder, &who, self, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		if (who != self && __atomic_compare_exchange_n(&holder, &who, self, false,
							       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
		sched_yield();
	}
}

static void unlock(void)
{
	__atomic_store_n(&holder, 0, __ATOMIC_RELEASE);
}

static struct entry *find_uid(uint64_t file, uint64_t uid)
{
	for (unsigned i = 0; i < n_entries; i++)
		if (book[i].file == file && book[i].uid == uid)
			return &book[i];
	return NULL;
}

/* Numbers are the daemon's, one set for all opens. */
static struct entry *find_id(uint32_t id)
{
	for (unsigned i = 0; i < n_entries; i++)
		if (book[i].id == id)
			return &book[i];
	return NULL;
}

static struct entry *add(void)
{
	if (n_entries == n_room) {
		unsigned room = n_room ? 2 * n_room : 16;
		struct entry *more = realloc(book, room * sizeof(*book));

		if (!more)
			return NULL;
		book = more;
		n_room = room;
	}
	book[n_entries] = (struct entry){0};
	return &book[n_entries++];
}

void uhca_ucma_book_enter(uint64_t file, uint32_t id, uint64_t uid)
{
	lock();
	struct entry *e = find_id(id);
	if (!e)
		e = add();
	if (e) {
		e->file = file;
		e->id = id;
		e->uid = uid ? uid : e->uid;
	}
	for (unsigned i = 0; i < n_entries; i++)
		if (book[i].is_group && book[i].owner == id)
			book[i].file = file;
	unlock();
}

void uhca_ucma_book_enter_group(uint64_t file, uint32_t id, uint32_t group, uint64_t uid)
{
	lock();
	struct entry *e = add();
	if (e)
		*e = (struct entry){
			.file = file, .id = group, .uid = uid, .owner = id, .is_group = true};
	unlock();
}

void uhca_ucma_book_device(uint32_t id)
{
	lock();
	struct entry *e = find_id(id);
	if (e)
		e->has_device = true;
	unlock();
}

void uhca_ucma_book_count_event(uint64_t file, uint64_t uid)
{
	lock();
	struct entry *e = find_uid(file, uid);
	if (e) {
		struct entry *owner = e->is_group ? find_id(e->owner) : NULL;

		e->events++;
		if (owner) /* librdmacm acknowledges a group's to both */
			owner->events++;
	}
	unlock();
}

uint32_t uhca_ucma_book_events(uint32_t id)
{
	lock();
	const struct entry *e = find_id(id);
	uint32_t events = e ? e->events : 0;
	unlock();
	return events;
}

bool uhca_ucma_book_strike(uint64_t file, uint32_t id, uint32_t *events)
{
	lock();
	struct entry *e = find_id(id);
	bool known = e && e->file == file;
	if (known) {
		*events = e->events;
		*e = book[--n_entries];
	}
	unlock();
	return known;
}

static struct entry *next_removal(uint64_t file)
{
	for (unsigned i = 0; i < n_entries; i++)
		if (book[i].file == file && !book[i].removed && book[i].has_device && book[i].uid)
			return &book[i];
	return NULL;
}

bool uhca_ucma_book_removal(uint64_t file, uint32_t *id, uint64_t *uid)
{
	lock();
	struct entry *e = next_removal(file);
	if (e) {
		e->removed = true;
		*id = e->id;
		*uid = e->uid;
	}
	unlock();
	return e;
}

bool uhca_ucma_book_has_removal(uint64_t file)
{
	lock();
	bool any = next_removal(file);
	unlock();
	return any;
}

void uhca_ucma_book_move(uint64_t from, uint64_t to)
{
	lock();
	for (unsigned i = 0; i < n_entries; i++)
		if (book[i].file == from)
			book[i].file = to;
	unlock();
}
