/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "sanitize": misuse of verbs is found while a program runs (uhca-run --sanitize). When it
 * is asked for, its functions stand in the op table in front of the provider's own; when not,
 * nothing here is ever called.
 *
 *   watch_*.c     the functions in front, in the order of a program's life
 *   object, shadow    what is known: objects, and requests that are outstanding
 *   inflight, lifetime    the checks; finding   what they find, on its way to the collector
 *
 * Who may call: the op table. It calls every module below. Where to begin: watch.h, shadow.h.
 */
#ifndef UHCAV_SANITIZE_H
#define UHCAV_SANITIZE_H

/*
 * Reads the environment (emu/abi/sanitize.h), once, before there are threads of ours. What is wrong
 * with it is said on standard error, and then nothing is watched.
 */
void uhcav_sanitize_begin(void);

/* What stands in front of an op: by its name; NULL: nothing does. */
void *uhcav_sanitize_op(const char *op);

#endif
