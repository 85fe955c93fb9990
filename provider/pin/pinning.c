/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See pinning.h. What an address has is asked of the kernel each time, and nothing is remembered
 * of addresses: a program may unmap, move and map what it likes without a word to us. One lock is
 * over all, so that forks find the arena whole (fork_copy.c).
 */
#include "pinning.h"

#include "advice.h"
#include "arena.h"
#include "fork_copy.h"
#include "lock.h"
#include "policy.h"
#include "replace.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000
#define SOON_NS      100000000

#define PAGE 4096u /* of another size nothing is pinned (policy.c) */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cancel_state; /* of the thread that has the lock, before: pages are not left half-way */

void uhcav_pinning_lock(void)
{
	int before = uhcav_cancel_off();

	pthread_mutex_lock(&lock);
	cancel_state = before;
}

void uhcav_pinning_unlock(void)
{
	int before = cancel_state;

	pthread_mutex_unlock(&lock);
	uhcav_cancel_back(before);
}

bool uhcav_pinning_lock_soon(void)
{
	int before = uhcav_cancel_off();
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += SOON_NS;
	end.tv_sec += end.tv_nsec / NSEC_PER_SEC;
	end.tv_nsec %= NSEC_PER_SEC;
	if (pthread_mutex_timedlock(&lock, &end) == 0) {
		cancel_state = before;
		return true;
	}
	uhcav_cancel_back(before);
	return false;
}

/* What one registration asks for, and what is found out once. */
struct request {
	struct uhcav_context *ctx;
	struct uhcav_pinning *out;
	bool asked; /* of the process */
	enum uhca_abi_borrowed process;
	enum uhcav_stop stop;
	bool not_forked; /* the range at hand */
};

/* How many of less than UHCAV_PIN_MIN may follow; is_hopeless looks without the lock. */
static unsigned small_left = UHCAV_PIN_SMALL;

static uint64_t least(void)
{
	return __atomic_load_n(&small_left, __ATOMIC_RELAXED) ? PAGE : UHCAV_PIN_MIN;
}

/* ---- the daemon's part ---- */

static int attach(struct uhcav_context *ctx, int fd)
{
	struct uhca_cmd_attach_arena request = {.size = uhcav_arena_size()};
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_ATTACH_ARENA, &request, .send_fd = &fd,
						  .n_send_fd = 1, .tried = true);

	if (ctx->arena == UHCAV_ARENA_UNTRIED)
		ctx->arena =
			uhcav_context_call(ctx, &call) ? UHCAV_ARENA_REFUSED : UHCAV_ARENA_ATTACHED;
	return ctx->arena == UHCAV_ARENA_ATTACHED ? 0 : -ENOTSUP;
}

/* The arena's descriptor, once the daemon has it; -errno. */
static int ready_arena(struct uhcav_context *ctx)
{
	int fd = uhcav_arena_fd();
	int err = fd < 0 ? fd : attach(ctx, fd);

	return err ? err : fd;
}

/* ---- parts of the range ---- */

/* False: there is no place for one more. */
static bool add_extent(struct uhcav_pinning *a, uint64_t addr, uint64_t length, uint64_t offset)
{
	struct uhca_abi_extent *last = a->n ? &a->extent[a->n - 1] : NULL;

	if (last && last->addr + last->length == addr && last->offset + last->length == offset) {
		last->length += length;
		return true;
	}
	if (a->n == UHCA_ABI_EXTENTS) {
		a->borrowed = UHCA_ABI_BORROWED_MANY;
		return false;
	}
	a->extent[a->n++] = (struct uhca_abi_extent){addr, length, offset};
	return true;
}

/*
 * Would a region that is borrowed see the pages change under it? The device stores by its own time.
 */
struct range {
	uint64_t from, to;
	bool overlaps;
};

static void look_at_regions(struct uhcav_context *ctx, void *arg)
{
	struct range *r = arg;

	r->overlaps |= uhcav_mr_table_overlaps(&ctx->regions, r->from, r->to - r->from);
}

static bool is_borrowed(uintptr_t from, uintptr_t to)
{
	struct range r = {from, to, false};

	uhcav_monitor_each(look_at_regions, &r);
	return r.overlaps;
}

static enum uhca_abi_borrowed of_process(struct request *r)
{
	if (!r->asked && !uhcav_advice_listen())
		r->process = UHCA_ABI_BORROWED_UNHEARD;
	else if (!r->asked)
		r->process = uhcav_policy_process(r->ctx->pin, uhcav_monitor_threads(), &r->stop);
	r->asked = true;
	return r->process;
}

static enum uhca_abi_borrowed why_not(struct request *r, const struct uhcav_mapping *m,
				      uintptr_t from, uintptr_t to)
{
	enum uhca_abi_borrowed why;

	if (r->ctx->pin == UHCA_ABI_PIN_OFF)
		return UHCA_ABI_BORROWED_OFF;
	if (to <= from || to - from < least())
		return UHCA_ABI_BORROWED_SMALL;
	if (!m->plain || m->shared || m->prot != (PROT_READ | PROT_WRITE))
		return UHCA_ABI_BORROWED_KIND;
	if (is_borrowed(from, to))
		return UHCA_ABI_BORROWED_OVERLAP;
	if (r->out->n == UHCA_ABI_EXTENTS)
		return UHCA_ABI_BORROWED_MANY;
	why = of_process(r);
	return why ? why : uhcav_policy_range(from, to, &r->not_forked);
}

static void note_fresh(struct uhcav_pinning *a, uint64_t from, uint64_t to)
{
	if (to - from <= a->fresh_end - a->fresh)
		return;
	a->fresh = from;
	a->fresh_end = to;
}

/* Replaces [from, to); the pieces of the arena are this region's. */
static enum uhca_abi_borrowed replace(struct request *r, uintptr_t from, uintptr_t to)
{
	int fd = ready_arena(r->ctx);
	uint64_t offset;
	int holes;

	if (fd < 0)
		return UHCA_ABI_BORROWED_FAILED;
	uhcav_fork_copy_install();
	if (uhcav_arena_take(from, to - from, &offset))
		return UHCA_ABI_BORROWED_ROOM;
	holes = uhcav_replace(from, to, fd, offset, r->stop);
	if (holes < 0) {
		uhcav_arena_release(offset, to - from);
		uhcav_arena_sweep();
		return UHCA_ABI_BORROWED_FAILED;
	}
	/* Forks wait for the lock that we have. */
	if (r->not_forked)
		madvise((void *)from, to - from, MADV_DONTFORK);
	if (to - from < UHCAV_PIN_MIN)
		__atomic_store_n(&small_left, small_left - 1, __ATOMIC_RELAXED);
	/* What was never touched is to be there, too: the daemon does not bring it. */
	if (!uhcav_arena_bring(offset, to - from, holes == 0)) {
		uhcav_arena_release(offset, to - from);
		return UHCA_ABI_BORROWED_ROOM;
	}
	note_fresh(r->out, from, to);
	add_extent(r->out, from, to - from, offset);
	return UHCA_ABI_BORROWED_UNTOLD;
}

/* The whole pages of a part of one mapping. */
static void pin(struct request *r, const struct uhcav_mapping *m, uintptr_t from, uintptr_t to)
{
	uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t first = (from + mask) & ~mask, end = to & ~mask;
	enum uhca_abi_borrowed why = why_not(r, m, first, end);

	if (!why)
		why = replace(r, first, end);
	if (!why && (first > from || end < to))
		why = UHCA_ABI_BORROWED_EDGES;
	if (why && (!r->out->borrowed || r->out->borrowed == UHCA_ABI_BORROWED_EDGES))
		r->out->borrowed = why;
}

static void take_part(struct request *r, const struct uhcav_mapping *m, uintptr_t from,
		      uintptr_t to)
{
	uint64_t offset = m->offset + (from - m->from);

	if (!uhcav_arena_has(m))
		pin(r, m, from, to);
	else if (r->ctx->pin == UHCA_ABI_PIN_OFF)
		r->out->borrowed = UHCA_ABI_BORROWED_OFF;
	else if (ready_arena(r->ctx) < 0)
		r->out->borrowed = UHCA_ABI_BORROWED_FAILED;
	else if (!uhcav_arena_bring(offset, to - from, false))
		r->out->borrowed = UHCA_ABI_BORROWED_ROOM;
	else if (add_extent(r->out, from, to - from, offset))
		uhcav_arena_hold(offset, to - from);
}

/* Nothing to look at: it is small, and nothing was ever pinned in whose midst it might be. */
static bool is_hopeless(uint64_t length)
{
	return length < least() && !uhcav_arena_is_used();
}

void uhcav_pinning_begin(struct uhcav_context *ctx, uint64_t addr, uint64_t length, int access,
			 struct uhcav_pinning *out)
{
	struct request r = {.ctx = ctx, .out = out};
	uintptr_t at = addr, end;
	struct uhcav_mapping m;
	int saved = errno;

	out->n = 0;
	out->fresh = out->fresh_end = 0;
	out->borrowed = UHCA_ABI_BORROWED_UNTOLD;
	if (ctx->pin == UHCA_ABI_PIN_OFF && !uhcav_arena_is_used())
		out->borrowed = UHCA_ABI_BORROWED_OFF;
	else if (access & IBV_ACCESS_ON_DEMAND)
		out->borrowed = UHCA_ABI_BORROWED_ON_DEMAND;
	else if (is_hopeless(length))
		out->borrowed = UHCA_ABI_BORROWED_SMALL;
	if (out->borrowed || __builtin_add_overflow(addr, length, &end))
		return;
	uhcav_pinning_lock();
	for (; at < end && !uhcav_maps_find(at, &m) && m.from < end; at = m.to)
		take_part(&r, &m, m.from > at ? m.from : at, m.to < end ? m.to : end);
	uhcav_pinning_unlock();
	errno = saved;
}

static void release(const struct uhcav_pinning *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		uhcav_arena_release(a->extent[i].offset, a->extent[i].length);
}

void uhcav_pinning_refused(struct uhcav_pinning *a)
{
	uhcav_pinning_lock();
	release(a);
	uhcav_pinning_unlock();
	a->n = 0;
	a->borrowed = UHCA_ABI_BORROWED_ROOM;
}

void uhcav_pinning_end(const struct uhcav_pinning *a)
{
	int saved = errno; /* why a registration failed */

	uhcav_pinning_lock();
	release(a);
	if (a->n)
		uhcav_arena_sweep();
	uhcav_pinning_unlock();
	errno = saved;
}
