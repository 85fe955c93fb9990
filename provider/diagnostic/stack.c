/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking a stack by unwinding costs a microsecond or two, and a program posts from few places. So
 * each thread remembers what it found for (return address, frame), and where on the stack each
 * return address stood. When it comes again and all of them still stand there the stack is the
 * same: with the addresses found equal from the innermost on, each next one stands where it stood,
 * because the frame of a function at one address has one layout. Only words of live frames are read
 * so.
 *
 * The unwinder is libgcc's, which the C library uses for backtrace(3), looked up when it is first
 * needed: programs that are not watched do not load it.
 */
#include "stack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define BUCKETS  4096u
#define REMEMBER 32u
#define FRAMES   (UHCAV_STACK_DEPTH + 16u) /* some are our own */
#define WORD     sizeof(uintptr_t)

static struct {
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
	_Unwind_Ptr (*get_ip)(struct _Unwind_Context *, int *);
	_Unwind_Word (*get_cfa)(struct _Unwind_Context *);
} unwinder;
static pthread_once_t once = PTHREAD_ONCE_INIT;

pthread_mutex_t uhcav_stack_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uhcav_stack *buckets[BUCKETS]; /* read without the lock, never shrinks */
static struct uhcav_stack nowhere;

struct walk {
	uintptr_t pc[FRAMES];
	uintptr_t slot[FRAMES]; /* where pc stood; 0: not on the stack as we know it */
	uint32_t n;
};

/* What a thread found for a place. */
struct remembered {
	struct uhcav_here here;
	const struct uhcav_stack *stack; /* NULL: nothing */
	uintptr_t slot[UHCAV_STACK_DEPTH];
};

static __thread struct remembered memory[REMEMBER];

static void find_unwinder(void)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	*(void **)&unwinder.get_ip = dlsym(library, "_Unwind_GetIPInfo");
	*(void **)&unwinder.get_cfa = dlsym(library, "_Unwind_GetCFA");
	if (unwinder.get_ip && unwinder.get_cfa)
		*(void **)&unwinder.backtrace = dlsym(library, "_Unwind_Backtrace");
}

/* A frame's return address stands below what its callee's frame begins at, on most machines. */
static __attribute__((no_sanitize("address", "thread"))) uintptr_t word_at(uintptr_t at)
{
	return *(const volatile uintptr_t *)at;
}

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *w = arg;
	int before = 0;
	uintptr_t pc = unwinder.get_ip(context, &before);
	uintptr_t slot = unwinder.get_cfa(context) - WORD;

	if (!pc || w->n == FRAMES)
		return _URC_END_OF_STACK;
#if defined(__x86_64__)
	w->slot[w->n] = slot % WORD || before || (w->n && word_at(slot) != pc) ? 0 : slot;
#else
	(void)slot;
	w->slot[w->n] = 0;
#endif
	w->pc[w->n++] = pc;
	return _URC_NO_REASON;
}

static uint32_t hash_of(const uintptr_t *pc, uint32_t n)
{
	uint64_t h = n;

	for (uint32_t i = 0; i < n; i++)
		h = (h ^ pc[i]) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(h >> 32);
}

static const struct uhcav_stack *stack_find(uint32_t hash, const uintptr_t *pc, uint32_t n)
{
	const struct uhcav_stack *s = __atomic_load_n(&buckets[hash % BUCKETS], __ATOMIC_ACQUIRE);

	for (; s; s = s->next)
		if (s->hash == hash && s->n == n && !memcmp(s->pc, pc, n * sizeof(*pc)))
			return s;
	return NULL;
}

static __thread bool busy;

bool uhcav_stack_is_busy(void)
{
	return busy;
}

static const struct uhcav_stack *keep(const uintptr_t *pc, uint32_t n)
{
	uint32_t hash = hash_of(pc, n = n < UHCAV_STACK_DEPTH ? n : UHCAV_STACK_DEPTH);
	const struct uhcav_stack *found = stack_find(hash, pc, n);
	struct uhcav_stack *s;

	if (found)
		return found;
	pthread_mutex_lock(&uhcav_stack_lock);
	found = stack_find(hash, pc, n);
	s = found ? NULL : malloc(sizeof(*s) + n * sizeof(*pc));
	if (s) {
		s->next = buckets[hash % BUCKETS];
		s->hash = hash;
		s->n = n;
		s->reported = 0;
		memcpy(s->pc, pc, n * sizeof(*pc));
		__atomic_store_n(&buckets[hash % BUCKETS], s, __ATOMIC_RELEASE);
		found = s;
	}
	pthread_mutex_unlock(&uhcav_stack_lock);
	return found ? found : &nowhere;
}

const struct uhcav_stack *uhcav_stack_keep(const uintptr_t *pc, uint32_t n)
{
	const struct uhcav_stack *s;

	busy = true;
	s = keep(pc, n);
	busy = false;
	return s;
}

static bool still_stands(const struct remembered *r, struct uhcav_here here)
{
	if (!r->stack || r->here.pc != here.pc || r->here.frame != here.frame)
		return false;
	for (uint32_t i = 1; i < r->stack->n; i++)
		if (word_at(r->slot[i]) != r->stack->pc[i])
			return false;
	return true;
}

static void remember(struct remembered *r, struct uhcav_here here, const struct uhcav_stack *stack,
		     const uintptr_t *slot)
{
	r->stack = NULL;
	for (uint32_t i = 1; i < stack->n; i++)
		if (!slot[i])
			return;
	if (stack->n)
		memcpy(r->slot, slot, stack->n * sizeof(*slot));
	r->here = here;
	r->stack = stack;
}

static bool is_ours(uintptr_t pc)
{
	Dl_info here, there;

	return dladdr((void *)pc, &there) && dladdr((void *)&once, &here) &&
	       here.dli_fbase == there.dli_fbase;
}

/*
 * Who hears calls of libraries stands between them and the program: that is none of its frames. A
 * program that has the library inside of it is all there is.
 */
static void leave_out_ours(struct walk *w, uint32_t first)
{
	uint32_t n = first;

	for (uint32_t i = first; i < w->n; i++) {
		if (is_ours(w->pc[i]))
			continue;
		w->pc[n] = w->pc[i];
		w->slot[n++] = w->slot[i];
	}
	if (n > first)
		w->n = n;
}

const struct uhcav_stack *uhcav_stack_take(struct uhcav_here here)
{
	struct remembered *r = &memory[(here.pc ^ here.frame >> 4) % REMEMBER];
	const struct uhcav_stack *stack;
	struct walk w = {.n = 0};
	uint32_t first = 0;
	uintptr_t program;

	if (still_stands(r, here))
		return r->stack;
	pthread_once(&once, find_unwinder);
	if (unwinder.backtrace)
		unwinder.backtrace(note_frame, &w);
	while (first < w.n && w.pc[first] != here.pc) /* what is ours */
		first++;
	if (first == w.n)
		return uhcav_stack_keep(&here.pc, 1);
	program = w.pc[w.n - 1];
	if (!is_ours(program))
		leave_out_ours(&w, first);
	stack = uhcav_stack_keep(w.pc + first, w.n - first);
	if (w.pc[first] == here.pc)
		remember(r, here, stack, w.slot + first);
	return stack;
}

const struct uhcav_stack *uhcav_stack_outside(void)
{
	struct walk w = {.n = 0};
	uint32_t first = 0;

	pthread_once(&once, find_unwinder);
	if (unwinder.backtrace)
		unwinder.backtrace(note_frame, &w);
	while (first < w.n && is_ours(w.pc[first]))
		first++;
	/* A program that has the library inside of it is all there is. */
	return first < w.n ? uhcav_stack_keep(w.pc + first, w.n - first)
			   : uhcav_stack_keep(w.pc, w.n);
}

struct search {
	uintptr_t pc, *out;
	uint32_t n;
};

/* What is before the interrupted frame is the handler's. */
static _Unwind_Reason_Code note_interrupted(struct _Unwind_Context *context, void *arg)
{
	struct search *s = arg;
	int before = 0;
	uintptr_t pc = unwinder.get_ip(context, &before);

	if (!pc || s->n == UHCAV_STACK_DEPTH)
		return _URC_END_OF_STACK;
	if (s->n)
		s->out[s->n++] = pc;
	else if (before && pc == s->pc)
		s->out[s->n++] = pc + 1;
	return _URC_NO_REASON;
}

uint32_t uhcav_stack_interrupted(uintptr_t pc, uintptr_t *out)
{
	struct search s = {.pc = pc, .out = out};

	if (unwinder.backtrace)
		unwinder.backtrace(note_interrupted, &s);
	if (!s.n)
		s.out[s.n++] = pc + 1;
	return s.n;
}

/* A program may be named after a library. */
static bool is_in(uintptr_t pc, const char *library)
{
	const char *base;
	Dl_info info;

	if (!dladdr((void *)pc, &info) || !info.dli_fname)
		return false;
	base = strrchr(info.dli_fname, '/');
	base = base ? base + 1 : info.dli_fname;
	return !strncmp(base, library, strlen(library)) && strstr(base, ".so");
}

bool uhcav_stack_is_of(const struct uhcav_stack *s, const char *library)
{
	uint32_t i = 0;

	while (i < s->n && (is_in(s->pc[i], "libibverbs") || is_in(s->pc[i], "libuhca")))
		i++;
	return i < s->n && is_in(s->pc[i], library);
}

bool uhcav_stack_has(const struct uhcav_stack *s, const char *library)
{
	for (uint32_t i = 0; s && i < s->n; i++)
		if (is_in(s->pc[i], library))
			return true;
	return false;
}
