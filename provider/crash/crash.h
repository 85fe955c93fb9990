/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "crash": a signal that ends the program inside a verb leaves a report (check
 * verb-crashed): SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT are heard before the program's own
 * handlers, which are called after that as if nobody had been there. A crash elsewhere is none of
 * ours.
 *
 * Who may call: sanitize. It calls base and diagnostic.
 */
#ifndef UHCAV_CRASH_H
#define UHCAV_CRASH_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What words to use for an object of a verb: false when nothing is known. No locks are waited for.
 */
typedef bool uhcav_crash_words_fn(const void *object, char *words, size_t room);

/*
 * Memory that this thread reads for us, [from, to), and where it goes on when that is not there
 * (sigsetjmp without a mask). NULL: it reads none. Only while signals are heard.
 */
struct uhcav_crash_landing {
	sigjmp_buf on;
	uintptr_t from, to;
};
extern __thread struct uhcav_crash_landing *uhcav_crash_landing;

/* Hears signals from now on. */
void uhcav_crash_begin(uhcav_crash_words_fn *words);

/* Again, because the program may have set handlers of its own since. Any thread. */
void uhcav_crash_listen(void);

/* What this thread is about to do: the last call of an inline verb, and its object. */
struct uhcav_crash_call {
	const char *name;
	const void *object;
};
extern __thread struct uhcav_crash_call uhcav_crash_call;

static inline void uhcav_crash_enter(const char *name, const void *object)
{
	uhcav_crash_call.name = name;
	uhcav_crash_call.object = object;
}

#endif
