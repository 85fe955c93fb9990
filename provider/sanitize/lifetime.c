/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See lifetime.h. What is left at exit is looked at when this library is unloaded, and others may
 * be unloaded after it and destroy theirs only then; so it is left with the collector, and told if
 * it is not taken back before the process is gone.
 *
 * A program that ends with another status than 0 has given up, and what it leaves is no news. In a
 * sweep it is, when the program had begun to take down what it had made after something failed.
 */
#include "lifetime.h"

#include "provider/connection/connection.h"
#include "provider/context/context.h"
#include "provider/diagnostic/diagnostic.h"
#include "provider/hang/hang.h"
#include "provider/memory_watch/memory_watch.h"

#include <stdlib.h>
#include <unistd.h>

#define GROUPS 256u
#define USERS  4u /* that are named */

/* Objects of a kind that were made at one place are one finding. */
struct group {
	struct uhcav_object first;
	uint32_t count;
};

static struct group groups[GROUPS];
static unsigned n_groups;
static int status;

static void note_status(int given, void *arg)
{
	(void)arg;
	status = given;
	uhcav_datagram_over(&(struct uhcav_datagram){.ah = 0});
	uhcav_hang_exits(given);
}

/*
 * librdmacm has one protection domain for all rdma_cm_ids of a device, from the first that is bound
 * to it until the last is destroyed. No program makes it, and none can destroy it.
 */
static bool is_of_librdmacm(const struct uhcav_object *o)
{
	return o->kind == UHCAV_KIND_PD && uhcav_stack_is_of(o->made, "librdmacm");
}

static void count(struct uhcav_object *o, void *arg)
{
	unsigned i = 0;

	(void)arg;
	if (is_of_librdmacm(o))
		return;
	while (i < n_groups && (groups[i].first.kind != o->kind || groups[i].first.made != o->made))
		i++;
	if (i == GROUPS)
		return;
	if (i == n_groups)
		groups[n_groups++] = (struct group){.first = *o};
	groups[i].count++;
	o->held = i + 1;
}

static void leave(struct group *g)
{
	const struct uhcav_object *o = &g->first;
	char words[UHCAV_OBJECT_WORDS];

	if (!uhcav_diagnostic_is_new(UHCA_CHECK_LEFT_AT_EXIT, o->made, NULL)) {
		g->count = 0;
		return;
	}
	if (g->count == 1)
		uhcav_diagnostic_begin(UHCA_CHECK_LEFT_AT_EXIT,
				       "the process ended without destroying a %s",
				       uhcav_kind_name(o->kind));
	else
		uhcav_diagnostic_begin(
			UHCA_CHECK_LEFT_AT_EXIT,
			"the process ended without destroying %u objects of one kind: %s", g->count,
			uhcav_kind_name(o->kind));
	uhcav_diagnostic_fact("%s%s", uhcav_object_words(o, words),
			      g->count > 1 ? " is the oldest of them" : "");
	if (o->kind == UHCAV_KIND_MR)
		uhcav_diagnostic_fact("%llu bytes at 0x%llx", (unsigned long long)o->mr.length,
				      (unsigned long long)o->mr.addr);
	uhcav_diagnostic_stack(o->made, "made by");
	g->first.held = uhcav_diagnostic_hold();
}

static bool gives_up_tidily(void)
{
	return secure_getenv(UHCA_SANITIZE_SWEEP_ENV) && uhcav_object_last_went();
}

static void __attribute__((destructor)) look_at_exit(void)
{
	uhcav_memory_settle();
	uhcav_quarantine_end(NULL);
	if ((status && !gives_up_tidily()) || !uhcav_check_on(UHCA_CHECK_LEFT_AT_EXIT))
		return;
	uhcav_object_each(count, NULL);
	for (unsigned i = 0; i < n_groups; i++)
		leave(&groups[i]);
}

void uhcav_lifetime_watch_exit(void)
{
	on_exit(note_status, NULL);
}

void uhcav_lifetime_ended(const struct uhcav_object *o)
{
	struct group *g;

	if (!o->held || o->pid != getpid())
		return;
	g = &groups[o->held - 1];
	if (g->count && !--g->count)
		uhcav_diagnostic_retract(g->first.held);
}

void uhcav_lifetime_busy(struct uhcav_here here, const struct uhcav_object *o)
{
	const struct uhcav_stack *stack;
	struct uhcav_object users[USERS];
	char words[UHCAV_OBJECT_WORDS];
	unsigned n;

	if (!uhcav_check_on(UHCA_CHECK_OBJECT_BUSY))
		return;
	stack = uhcav_stack_take(here);
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_OBJECT_BUSY, stack, o->made))
		return;
	n = uhcav_object_users(o->self, users, USERS);
	uhcav_diagnostic_begin(UHCA_CHECK_OBJECT_BUSY,
			       "destroying a %s failed (EBUSY): other objects use it",
			       uhcav_kind_name(o->kind));
	uhcav_diagnostic_fact("%s: %u objects of this process use it", uhcav_object_words(o, words),
			      n);
	for (unsigned i = 0; i < n && i < USERS; i++)
		uhcav_diagnostic_fact("%s", uhcav_object_words(&users[i], words));
	uhcav_diagnostic_stack(stack, "destroyed by");
	uhcav_diagnostic_stack(o->made, "%s made by", uhcav_object_words(o, words));
	for (unsigned i = 0; i < n && i < USERS; i++)
		uhcav_diagnostic_stack(users[i].made, "%s made by",
				       uhcav_object_words(&users[i], words));
	uhcav_diagnostic_report();
}

/* ---- threads ---- */

static void report_inside(enum uhca_check check, const char *what, const struct uhcav_inside *i,
			  const void *self, const struct uhcav_stack *stack)
{
	bool clash = check == UHCA_CHECK_THREADS_CLASH;
	uintptr_t pc = __atomic_load_n(&i->pc, __ATOMIC_RELAXED);
	const struct uhcav_stack *other = __atomic_load_n(&i->stack, __ATOMIC_RELAXED);
	char words[UHCAV_OBJECT_WORDS];
	struct uhcav_object o;

	if (!other)
		other = uhcav_stack_keep(&pc, 1);
	if (!uhcav_object_find(self, &o) || !uhcav_diagnostic_is_new(check, stack, other))
		return;
	uhcav_diagnostic_begin(check, "%s", what);
	uhcav_diagnostic_fact("%s", uhcav_object_words(&o, words));
	uhcav_diagnostic_stack(stack, clash ? "called by" : "destroyed by");
	uhcav_diagnostic_stack(other, "the other thread called from");
	uhcav_diagnostic_stack(o.made, "%s made by", uhcav_object_words(&o, words));
	uhcav_diagnostic_report();
}

void uhcav_lifetime_enter(struct uhcav_inside *i, const void *self, bool single,
			  struct uhcav_here here, const struct uhcav_stack *stack)
{
	if (single && uhcav_check_on(UHCA_CHECK_THREADS_CLASH)) {
		stack = stack ? stack : uhcav_stack_take(here);
		if (uhcav_inside_others(i))
			report_inside(UHCA_CHECK_THREADS_CLASH,
				      "two threads use a single-threaded object at once", i, self,
				      stack);
		else if (i->domain && uhcav_inside_others(i->domain))
			report_inside(UHCA_CHECK_THREADS_CLASH,
				      "two threads use objects of one thread domain at once",
				      i->domain, self, stack);
	}
	uhcav_inside_enter(i, here.pc, stack);
}

void uhcav_lifetime_ending(const struct uhcav_inside *i, const void *self, struct uhcav_here here)
{
	if (uhcav_check_on(UHCA_CHECK_DESTROY_POSTING) && uhcav_inside_others(i))
		report_inside(UHCA_CHECK_DESTROY_POSTING,
			      "an object is destroyed while another thread is in a call on it", i,
			      self, uhcav_stack_take(here));
}
