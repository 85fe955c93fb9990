/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of the threads of another process that this one has started, by libdw of elfutils. The
 * library is loaded when the first stack is asked for.
 */
#ifndef RUN_STACK_H
#define RUN_STACK_H

#include <sys/types.h>

struct run_stack;

/*
 * Of a process that stands still meanwhile only as long as each of its threads is looked at. NULL:
 * there is no library, or the process may not be looked at (ptrace(2)); *why says so, static text.
 */
struct run_stack *run_stack_open(pid_t pid, const char **why);

/*
 * Writes the frames of a thread to standard error, one on a line:
 * "uhca-run:     #0 FUNCTION FILE:LINE (MODULE)", where these are known.
 * Nothing where the thread has ended.
 */
void run_stack_print(struct run_stack *stack, pid_t thread);
void run_stack_close(struct run_stack *stack);

#endif
