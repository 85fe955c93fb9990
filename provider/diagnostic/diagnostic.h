/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "diagnostic": what the sanitizer has to say. Which checks are on (check.h), call stacks
 * (stack.h), and findings. It knows nothing of verbs.
 *
 * A finding is a mistake that was found: written down as a line (emu/abi/sanitize.h) and told to
 * the collector, which looks up what the addresses mean, knows what is to be suppressed, and says
 * whether the process goes on. Where no collector listens it goes to standard error as it is. One
 * at a time in a process: from begin to tell others wait.
 */
#ifndef UHCAV_DIAGNOSTIC_H
#define UHCAV_DIAGNOSTIC_H

#include "check.h"
#include "emu/abi/cause.h"
#include "line.h"
#include "refused.h"
#include "reporter.h"
#include "stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Is this to be told: a check that is on, and the first time that it finds something at these two
 * places (either may be NULL)?
 */
bool uhcav_diagnostic_is_new(enum uhca_check check, const struct uhcav_stack *mistake,
			     const struct uhcav_stack *concerned);

/* The next finding that this thread begins is about another one, which waits. */
void uhcav_diagnostic_of_thread(pid_t tid);

/* What is wrong, as a sentence without an end. */
void uhcav_diagnostic_begin(enum uhca_check check, const char *what, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The same from a handler of signals, in the midst of anything: false when the lock is not to be
 * had, because this thread may hold it.
 */
bool uhcav_diagnostic_begin_crashed(enum uhca_check check, const char *what, ...)
	__attribute__((format(printf, 2, 3)));

/* A request, as people call it: "SEND, wr_id 0x1, of RC QP 0x11". */
struct uhcav_request_name {
	const char *what, *queue;
	uint32_t number; /* of the queue */
	uint64_t wr_id;
};
void uhcav_diagnostic_request(const struct uhcav_request_name *r);

/* A line about an object. */
void uhcav_diagnostic_fact(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A stack, and what happened there. The first is the mistake's. NULL is left out. */
void uhcav_diagnostic_stack(const struct uhcav_stack *stack, const char *title, ...)
	__attribute__((format(printf, 2, 3)));

/* One that some process has left under this name (note.h); where none has it is left out. */
void uhcav_diagnostic_stack_of(const char *name, const char *title, ...)
	__attribute__((format(printf, 2, 3)));

/* Several processes may find the same: of those with one name the first is told. */
void uhcav_diagnostic_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Why the device refused: the collector says it in words, as the last fact. */
void uhcav_diagnostic_cause(const struct uhca_abi_cause *cause);

/* Forgets what was begun: it is not so. */
void uhcav_diagnostic_drop(void);

/* Reports it. Returns when it was reported; or does not, when the process is to end. */
void uhcav_diagnostic_report(void);

/*
 * The same with one member more, as it stands in the line. False: the collector says that it waits
 * for others to tell theirs.
 */
bool uhcav_diagnostic_report_with(const char *member);

/*
 * What several processes have to say together: none of them goes on without the others. A process
 * says again and again of which peers it depends, by the member "hang" of a line
 * (emu/abi/sanitize.h); the collector joins what all of them say. Do all on whom this process
 * depends say the same? One thread asks.
 */
bool uhcav_diagnostic_ask(const char *member);

/*
 * Leaves a stack with the collector, for what other processes may find: the one at the other end of
 * a connection does not know who has registered the memory that it names. From now on it is what
 * this name means; the collector is not waited for. Any thread.
 */
void uhcav_diagnostic_note(const struct uhcav_stack *stack, const char *name);

/* The program's name as findings have it. */
const char *uhcav_diagnostic_program(void);

/* What a check cannot see on this machine, and why: uhca-run prints the first one at its end. */
void uhcav_diagnostic_unseen(const char *what, const char *why);

/* A number among the settings of the collector; "otherwise" where nobody listens. */
uint64_t uhcav_diagnostic_setting(const char *name, uint64_t otherwise);

/*
 * The same, but only the collector knows whether it is one: it is when the innermost frame of the
 * first stack is a verb, perhaps an inline one.
 */
void uhcav_diagnostic_report_if_verb(void);

/*
 * The same for what is wrong only if nothing comes any more: it is told when the process has ended,
 * unless it is taken back. hold returns what to name it by.
 */
uint32_t uhcav_diagnostic_hold(void);
void uhcav_diagnostic_retract(uint32_t name);

/* Held across a fork, in this order. */
extern pthread_mutex_t uhcav_diagnostic_seen_lock, uhcav_diagnostic_lock;

#endif
