/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptions of processes that stand still, by themselves ("stands" of emu/abi/sanitize.h). */
#ifndef PICTURE_H
#define PICTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* True when the line is one of these; the process says it each ms while it stands still. */
bool picture_take(pid_t pid, json_t *line);

/* The process has ended. */
void picture_end(pid_t pid);

/*
 * Does it stand still, and not as one that serves whoever comes (poll(2), epoll(7))? Adds a fact
 * for each of its threads to the list.
 */
bool picture_facts(pid_t pid, unsigned ms, json_t *facts);

/* The program of one that has a picture. */
const char *picture_program(pid_t pid);

/* All that stand still, or did so until just now. */
void picture_print(FILE *out, unsigned ms);

#endif
