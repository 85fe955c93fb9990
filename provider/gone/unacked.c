/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See unacked.h. A small table without a lock: an event that finds no place is not known. The
 * members of an entry are written by its owner before the event is.
 */
#include "unacked.h"

#include <sys/syscall.h>
#include <unistd.h>

#define PLACES 64u

/* The beginning of struct rdma_cm_event; the library counts a request's event by its listener. */
struct cm_event {
	const void *id, *listen_id;
};

static struct entry {
	const void *event; /* atomic; NULL: free, the table itself: being written */
	const void *id;
	pid_t by;
	bool awaited;
	const struct uhcav_stack *read;
} entries[PLACES];

static pid_t self(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static struct entry *claim(void)
{
	for (unsigned i = 0; i < PLACES; i++) {
		const void *none = NULL;

		if (__atomic_compare_exchange_n(&entries[i].event, &none, entries, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &entries[i];
	}
	return NULL;
}

void uhcav_unacked_add(const void *event, struct uhcav_here here)
{
	const struct cm_event *c = event;
	struct entry *e = claim();

	if (!e)
		return;
	e->id = c->listen_id ? c->listen_id : c->id;
	e->by = self();
	e->awaited = false;
	e->read = uhcav_stack_take(here);
	__atomic_store_n(&e->event, event, __ATOMIC_RELEASE);
}

void uhcav_unacked_remove(const void *event)
{
	for (unsigned i = 0; event && i < PLACES; i++)
		if (__atomic_load_n(&entries[i].event, __ATOMIC_ACQUIRE) == event)
			__atomic_store_n(&entries[i].event, NULL, __ATOMIC_RELEASE);
}

static bool is_there(const struct entry *e)
{
	const void *event = __atomic_load_n(&e->event, __ATOMIC_ACQUIRE);

	return event && event != entries;
}

void uhcav_unacked_await(const void *id)
{
	pid_t tid = self();

	for (unsigned i = 0; i < PLACES; i++)
		if (is_there(&entries[i]) && entries[i].id == id && entries[i].by == tid)
			entries[i].awaited = true;
}

const struct uhcav_stack *uhcav_unacked_by(pid_t tid)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (is_there(&entries[i]) && entries[i].awaited && entries[i].by == tid)
			return entries[i].read;
	return NULL;
}
