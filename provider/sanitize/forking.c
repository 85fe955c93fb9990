/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See forking.h. Memory of this device is the process's own and survives a fork; an adapter has the
 * pages. Where the kernel copies pinned pages for the child (5.12 and later), libibverbs says that
 * nothing need be done, and so nothing is said here.
 */
#include "forking.h"

#include "object.h"

#include <dlfcn.h>
#include <unistd.h>

struct regions {
	struct uhcav_object oldest;
	unsigned n;
};

/*
 * What ibv_is_fork_initialized says. The plugin finds functions of libibverbs by name
 * (provider/driver.c), because programs load both where others do not see them.
 */
static enum ibv_fork_status fork_status(void)
{
	enum ibv_fork_status (*is_initialized)(void);
	enum ibv_fork_status status = IBV_FORK_UNNEEDED;
	void *handle = dlopen("libibverbs.so.1", RTLD_NOLOAD | RTLD_LAZY);

	if (!handle)
		return status;
	*(void **)&is_initialized = dlsym(handle, "ibv_is_fork_initialized");
	if (is_initialized)
		status = is_initialized();
	dlclose(handle);
	return status;
}

/* On demand, the adapter follows the process's pages. */
static void count_region(struct uhcav_object *o, void *arg)
{
	struct regions *r = arg;

	if (o->kind != UHCAV_KIND_MR || !o->mr.in_memory || (o->mr.access & IBV_ACCESS_ON_DEMAND))
		return;
	if (!r->n++)
		r->oldest = *o;
}

/* Without the frames of the C library, which calls handlers of forks: the first is who forked. */
static const struct uhcav_stack *from_caller(const struct uhcav_stack *stack)
{
	Dl_info library, frame;
	uint32_t i = 0;

	if (!dladdr((const void *)(uintptr_t)fork, &library))
		return stack;
	while (i < stack->n && dladdr((const void *)stack->pc[i], &frame) &&
	       frame.dli_fbase == library.dli_fbase)
		i++;
	return i < stack->n ? uhcav_stack_keep(stack->pc + i, stack->n - i) : stack;
}

void uhcav_forking_look(struct uhcav_here here)
{
	struct regions r = {.n = 0};
	const struct uhcav_stack *stack;
	char words[UHCAV_OBJECT_WORDS];

	if (!uhcav_check_on(UHCA_CHECK_FORK_UNSAFE) || fork_status() != IBV_FORK_DISABLED)
		return;
	uhcav_object_each(count_region, &r);
	if (!r.n)
		return;
	stack = from_caller(uhcav_stack_take(here));
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_FORK_UNSAFE, stack, r.oldest.made))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_FORK_UNSAFE,
			       "a process with registered memory forks without ibv_fork_init");
	uhcav_diagnostic_fact("%u regions are registered; the oldest is %s, %llu bytes at 0x%llx",
			      r.n, uhcav_object_words(&r.oldest, words),
			      (unsigned long long)r.oldest.mr.length,
			      (unsigned long long)r.oldest.mr.addr);
	uhcav_diagnostic_stack(stack, "forked by");
	uhcav_diagnostic_stack(r.oldest.made, "%s made by", words);
	uhcav_diagnostic_report();
}

void uhcav_forking_used(struct uhcav_here here, struct uhcav_context *ctx, const char *call)
{
	const struct uhcav_stack *stack;

	if (uhcav_life(ctx) != UHCAV_FORKED || !uhcav_check_on(UHCA_CHECK_FORK_UNSAFE))
		return;
	stack = uhcav_stack_take(here);
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_FORK_UNSAFE, stack, NULL))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_FORK_UNSAFE,
			       "a child of fork uses an object that its parent has made");
	uhcav_diagnostic_fact("%s fails here: the device belongs to the process that opened it",
			      call);
	uhcav_diagnostic_stack(stack, "called by");
	uhcav_diagnostic_report();
}
