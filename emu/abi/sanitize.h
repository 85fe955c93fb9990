/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sanitizer: what the provider, which finds, and uhca-run's collector, which tells, both know.
 *
 * The provider connects to the collector's socket and sends a line of JSON for each finding:
 *
 *   {"check": NAME, "pid": N, "thread": N, "program": S, "what": S, "facts": [S...],
 *    "stacks": [{"title": S, "frames": [[MODULE, ADDRESS, PC]...]}...]}
 *
 * MODULE is a file, or "" where the address is of none; ADDRESS is what the file's own tables call
 * it, PC the address in the process. The collector answers a line, "go" or "halt STATUS".
 * A line with "if_verb": true is told where the first stack begins in a verb (frames of inline
 * functions count), and is forgotten otherwise.
 * A line with "held": N has no answer and is told when the connection ends, unless {"retract": N}
 * came before.
 *
 * {"setting": NAME} is answered with a number of the collector's settings.
 *
 * "hang": {"dir": INSTANCE, "since": MS, "checks": [NAME...], "why": S,
 * "qps": [[DEVICE, QPN, ADDRESS]...]} says that the process goes on by the peers of these queue
 * pairs alone, whose address is given. A line with nothing else is answered "closed" when the
 * daemon knows them all, and their processes have said the same a moment ago, or are gone; else
 * "wait". One with a finding beside it is answered "wait" until all of them have told theirs, and
 * then as any other: one report has them all.
 * "since": since when it does not go on, by CLOCK_MONOTONIC, in ms.
 * "checks": those that the collector may name, as far as they are on; "why": what is awaited.
 * "strangers": true: a new connection of rdma_cm may help; "events": true: nothing else may;
 * "data": true: nothing else may but data of sockets; "async": true: but an asynchronous event.
 * "sockets": the inodes of the other ends of those that its threads wait for, whose holders must
 * wait as well. "clock": true: a thread that polls looks at the time, and may give up.
 *
 * A process also leaves stacks for findings of others, without an answer:
 *
 *   {"stack": ID, "frames": [...]}       a stack; ID is unique among all processes
 *   {"note": NAME, "of": ID}             that stack is known by this name from now on
 *
 * {"program": S, "stands": [[THREAD, CALL, MS, FD, FILE, NS]...], "queues": [S...]} says again and
 * again that no thread goes on: its system call (-1: it polls) and first argument. NS is there for
 * a thread that sleeps repeatedly: the time of one sleep, 0 if unknown. No answer.
 *
 * {"unseen": S} says what a check cannot see on this machine. No answer; the end of the run has it
 * once.
 *
 * In a finding {"title": S, "note": NAME} is a stack of that name, and is left out where there is
 * none. "once": NAME: a second finding of that name is not told. "cause": [...]: the members of
 * struct uhca_abi_cause, of which the collector makes a fact.
 */
#ifndef UHCA_ABI_SANITIZE_H
#define UHCA_ABI_SANITIZE_H

#include "checks.h"

/* The checks, as a list (below), and where the collector listens. */
#define UHCA_SANITIZE_ENV        "UHCA_SANITIZE"
#define UHCA_SANITIZE_SOCKET_ENV "UHCA_SANITIZE_SOCKET"

/* Of uhca-run --sweep: reports every crash, and what a program that fails leaves behind. */
#define UHCA_SANITIZE_SWEEP_ENV "UHCA_SANITIZE_SWEEP"

#define UHCA_SANITIZE_WAIT   "wait"
#define UHCA_SANITIZE_CLOSED "closed"

#define UHCA_SANITIZE_LINE 65536u /* the longest */

#endif
