/* SPDX-License-Identifier: BSD-2-Clause */
/* The way to the collector (emu/abi/sanitize.h). */
#ifndef UHCAV_REPORTER_H
#define UHCAV_REPORTER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Sends a line, a newline behind it, and waits for the answer. False: nobody listens. Does not
 * return when the answer is that the process is to end.
 */
bool uhcav_reporter_send(const char *line, size_t n);

/* The same, and the answer, without its newline. */
#define UHCAV_ANSWER 32
bool uhcav_reporter_ask(const char *line, size_t n, char answer[UHCAV_ANSWER]);

/*
 * Sends one that has no answer, over a connection that stays open until the process ends or
 * executes another program. A child of fork(2) gets one of its own. False: nobody listens.
 */
bool uhcav_reporter_leave(const char *line, size_t n);

/* Is it that connection? Any thread. */
bool uhcav_reporter_owns(int fd);

#endif
